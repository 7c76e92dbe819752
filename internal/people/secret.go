package people

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// secretBytes is how much chance a secret holds: 256 bits.
const secretBytes = 32

// Hash is all that is kept of a secret: its SHA-256 in hexadecimal. A secret of
// 256 random bits cannot be guessed from it, so it needs no salt and no delay.
type Hash string

// NewSecret makes what a session, an invitation or a program carries.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: it ends the program rather than return less
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashOf is what is kept of a secret.
func HashOf(secret string) Hash {
	sum := sha256.Sum256([]byte(secret))
	return Hash(hex.EncodeToString(sum[:]))
}
