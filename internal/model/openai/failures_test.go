package openai_test

import (
	"net/http"
	"testing"
	"time"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
)

// What servers and what stands before them really answer.
func TestWhatServersAnswerBecomesWhatToDo(t *testing.T) { // BEHAVIOUR 11
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	for _, f := range []modeltest.Failure{
		{Name: "openai: wrong key", Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-conf***6789. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Kind: model.Auth, Says: []string{"refused the key", "Check OPENAI_API_KEY."}},
		{Name: "openai: country", Status: 403, Body: `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, Kind: model.Auth, Says: []string{"Country, region", "OPENAI_API_KEY and what it may do"}},
		{Name: "openai: quota", Status: 429, Body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Kind: model.RateLimited, Final: true, Says: []string{"no quota left", "the account behind OPENAI_API_KEY", "another model"}},
		{Name: "openai: quota by its code", Status: 429, Body: `{"error":{"message":"Request refused.","type":"insufficient_quota","code":null}}`, Kind: model.RateLimited, Final: true, Says: []string{"no quota left", "(insufficient_quota)"}},
		{Name: "openai: not active", Status: 429, Body: `{"error":{"message":"Your account is not active.","code":"billing_not_active"}}`, Kind: model.RateLimited, Final: true, Says: []string{"no quota left", "the account behind OPENAI_API_KEY"}},
		{Name: "openai: reset", Status: 429, Header: http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"1m26s"}}, Body: `{"error":{"message":"Rate limit"}}`, Kind: model.RateLimited, Wait: 86 * time.Second, Says: []string{"It asks to wait 1m26s."}},
		{Name: "xai: wrong key", Status: 400, Body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`, Kind: model.Auth, Says: []string{"refused the key", "Check OPENAI_API_KEY."}},
		{Name: "groq: no capacity", Status: 498, Body: `{"error":{"message":"capacity exceeded"}}`, Kind: model.Unavailable, Says: []string{"Try again later"}},
		{Name: "anthropic: overloaded", Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Kind: model.Unavailable, Says: []string{"Overloaded"}},
		{Name: "openai: rate in words", Status: 429, Body: `{"error":{"message":"Rate limit reached for gpt-4 in organization org-x on tokens per min. Limit: 10000 / min. Please try again in 1m26.4s. Add a payment method at https://platform.openai.com/account/billing.","type":"tokens","code":"rate_limit_exceeded"}}`, Kind: model.RateLimited, Wait: 86400 * time.Millisecond, Says: []string{"It asks to wait 1m26s."}},
		{Name: "openai: milliseconds", Status: 429, Header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}, Body: `{"error":{"message":"Rate limit reached"}}`, Kind: model.RateLimited, Wait: 1500 * time.Millisecond, Says: []string{"It asks to wait 2s."}},
		{Name: "openai: model", Status: 404, Body: `{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, Kind: model.BadResponse, Says: []string{"gpt-9", "Check the model's name"}},
		{Name: "openai: context", Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Kind: model.BadResponse, Says: []string{"longer context", "Ask for less"}},
		{Name: "openai: server", Status: 500, Body: `{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error"}}`, Kind: model.Unavailable, Says: []string{"Try again later"}},
		{Name: "openai: overloaded", Status: 503, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":{"message":"The engine is currently overloaded, please try again later"}}`, Kind: model.Unavailable, Wait: 7 * time.Second, Says: []string{"overloaded", "It asks to wait 7s."}},
		{Name: "azure: filter", Status: 400, Body: `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`, Kind: model.Filtered, Says: []string{"Put the question in other words"}},
		{Name: "openrouter: credits", Status: 402, Body: `{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/credits","code":402}}`, Kind: model.Auth, Says: []string{"paid first", "the account behind OPENAI_API_KEY"}},
		{Name: "ollama: model", Status: 404, Body: `{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, Kind: model.BadResponse, Says: []string{"try pulling it first", "Check the model's name"}},
		{Name: "ollama: wrong path", Status: 404, Header: http.Header{"Content-Type": {"text/plain"}}, Body: "404 page not found", Kind: model.BadResponse, Says: []string{"404 page not found", "OPENAI_BASE_URL"}},
		{Name: "ollama: memory", Status: 500, Body: `{"error":{"message":"model requires more system memory (5.6 GiB) than is available (3.9 GiB)","type":"api_error"}}`, Kind: model.Unavailable, Says: []string{"more system memory"}},
		{Name: "ollama: busy", Status: 503, Body: `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, Kind: model.Unavailable, Says: []string{"server busy"}},
		{Name: "vllm: key", Status: 401, Body: `{"error":"Unauthorized"}`, Kind: model.Auth, Says: []string{": Unauthorized.", "OPENAI_API_KEY"}},
		{Name: "vllm: context", Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`, Kind: model.BadResponse, Says: []string{"longer context"}},
		{Name: "fastapi: field", Status: 422, Body: `{"detail":[{"loc":["body","messages",0,"role"],"msg":"value is not a valid enumeration member","type":"type_error.enum"}]}`, Kind: model.BadResponse, Says: []string{"not a valid enumeration member", "what it can do"}},
		{Name: "llama.cpp: loading", Status: 503, Body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, Kind: model.Unavailable, Says: []string{"Loading model"}},
		{Name: "too large", Status: 413, Body: `{"error":{"message":"Request too large"}}`, Kind: model.BadResponse, Says: []string{"longer context"}},
		{Name: "no such method", Status: 405, Body: `{"detail":"Method Not Allowed"}`, Kind: model.BadResponse, Says: []string{"OPENAI_BASE_URL", "the address of such an API"}},
		{Name: "not implemented", Status: 501, Body: ``, Kind: model.BadResponse, Says: []string{"OPENAI_BASE_URL"}},
		{Name: "nginx: bad gateway", Status: 502, Header: html, Body: "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>", Kind: model.Unavailable, Says: []string{"a web page, so a proxy", "OPENAI_BASE_URL"}},
		{Name: "cloudflare: blocked", Status: 403, Header: html, Body: "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>", Kind: model.Auth, Says: []string{"a web page, so a proxy"}},
		{Name: "cloudflare: time", Status: 524, Header: html, Body: "<!DOCTYPE html><title>A timeout occurred</title>", Kind: model.Unavailable, Says: []string{"Try again later", "a web page"}},
		{Name: "a log-in page", Status: 200, Header: html, Body: "<!DOCTYPE html><title>Log in</title>", Kind: model.BadResponse, Says: []string{"OPENAI_BASE_URL", "ending in /v1"}},
		{Name: "a proxy that wants a log-in", Status: 407, Header: html, Body: "<html>", Kind: model.Auth, Says: []string{"HTTPS_PROXY"}},
	} {
		t.Run(f.Name, func(t *testing.T) { f.Hold(t, subject()) })
	}
}
