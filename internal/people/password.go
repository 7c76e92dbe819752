package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// A password has this many characters, and may have any.
const (
	LeastPassword = 12
	MostPassword  = 1000
)

// What is wrong with a password. The messages are shown.
var (
	ErrPassword = fmt.Errorf("a password has %d to %d characters, of any kind", LeastPassword, MostPassword)
	// ErrWrong is a name that nobody has or a password that is not theirs.
	ErrWrong = errors.New("the name or the password is wrong")
	errHash  = errors.New("the kept hash of a password cannot be read")
)

// CheckPassword holds a new password to its length.
func CheckPassword(password string) error {
	if n := utf8.RuneCountInString(password); !utf8.ValidString(password) || n < LeastPassword || n > MostPassword {
		return ErrPassword
	}
	return nil
}

// Cost is what one guess at a password costs.
type Cost struct {
	Memory  uint32 // KiB
	Times   uint32
	Threads uint8
}

// Recommended is argon2id with 19 MiB, two passes and one lane: the first choice of
// OWASP's Password Storage Cheat Sheet for servers, on which several log in at
// once. RFC 9106, section 4, recommends more memory (64 MiB and three passes) where
// it is there; a hash says what it cost, so this may be raised at any time.
func Recommended() Cost { return Cost{Memory: 19 * 1024, Times: 2, Threads: 1} }

// Lengths in bytes, as RFC 9106 recommends.
const (
	saltBytes = 16
	keyBytes  = 32
)

// Passwords hashes and verifies. It is safe for concurrent use, and computes no
// more hashes at once than there are processors, so that many log-ins cost time
// and not memory.
type Passwords struct {
	cost    Cost
	places  chan struct{}
	nobodys string // the hash that a password is held to when nobody has the name
}

// NewPasswords returns what hashes at a cost; the zero cost is the recommended.
func NewPasswords(cost Cost) *Passwords {
	if cost == (Cost{}) {
		cost = Recommended()
	}
	p := &Passwords{cost: cost, places: make(chan struct{}, runtime.GOMAXPROCS(0))}
	p.nobodys = p.hash(NewSecret())
	return p
}

// Hash returns a new password as it is kept, in the PHC string format.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	free, err := p.place(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	return p.hash(password), nil
}

// Verify returns [ErrWrong] unless the password is the one of the kept hash. It
// takes as long when kept is "", because nobody has the name.
func (p *Passwords) Verify(ctx context.Context, kept, password string) error {
	if len(password) > utf8.UTFMax*MostPassword {
		return ErrWrong
	}
	free, err := p.place(ctx)
	if err != nil {
		return err
	}
	defer free()
	nobody := kept == ""
	if nobody {
		kept = p.nobodys
	}
	cost, salt, want, err := parse(kept)
	if err != nil {
		return err
	}
	got := argon2.IDKey([]byte(password), salt, cost.Times, cost.Memory, cost.Threads, keyBytes)
	if subtle.ConstantTimeCompare(got, want) != 1 || nobody {
		return ErrWrong
	}
	return nil
}

// place waits until a hash may be computed.
func (p *Passwords) place(ctx context.Context) (free func(), err error) {
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *Passwords) hash(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, p.cost.Times, p.cost.Memory, p.cost.Threads, keyBytes)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, p.cost.Memory, p.cost.Times, p.cost.Threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}

// parse reads what hash wrote, whatever it cost then.
func parse(kept string) (c Cost, salt, key []byte, err error) {
	fields := strings.Split(kept, "$")
	if len(fields) != 6 || fields[1] != "argon2id" || fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &c.Memory, &c.Times, &c.Threads); err != nil {
		return c, nil, nil, fmt.Errorf("%w: %w", errHash, err)
	}
	if c.Memory == 0 || c.Times == 0 || c.Threads == 0 || c.Memory > math.MaxUint16*64 {
		return c, nil, nil, errHash
	}
	salt, err = base64.RawStdEncoding.DecodeString(fields[4])
	if err == nil {
		key, err = base64.RawStdEncoding.DecodeString(fields[5])
	}
	if err != nil || len(key) != keyBytes {
		return c, nil, nil, errHash
	}
	return c, salt, key, nil
}
