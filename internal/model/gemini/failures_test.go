package gemini_test

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
		{Name: "google: html", Status: 502, Header: html, Body: "<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>", Kind: model.Unavailable, Says: []string{"Gemini", "GEMINI_BASE_URL"}},
		{Name: "gemini: wrong key", Status: 400, Body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`, Kind: model.Auth, Says: []string{"Check GEMINI_API_KEY."}},
		{Name: "gemini: not allowed", Status: 403, Body: `{"error":{"code":403,"message":"Generative Language API has not been used in project 1 before or it is disabled.","status":"PERMISSION_DENIED"}}`, Kind: model.Auth, Says: []string{"disabled", "GEMINI_API_KEY and what it may do"}},
		{Name: "gemini: place", Status: 400, Body: `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, Kind: model.BadResponse, Says: []string{"User location"}},
		{Name: "gemini: a minute's quota", Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 15\nPlease retry in 38.2s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`, Kind: model.RateLimited, Wait: 38200 * time.Millisecond, Says: []string{"It asks to wait 38s."}},
		{Name: "gemini: a day's quota", Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`, Kind: model.RateLimited, Final: true, Wait: 38 * time.Second, Says: []string{"today", "GEMINI_API_KEY", "another model"}},
		{Name: "gemini: model", Status: 404, Body: `{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}`, Kind: model.BadResponse, Says: []string{"gemini-9", "Check the model's name"}},
		{Name: "gemini: too many tokens", Status: 400, Body: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, Kind: model.BadResponse, Says: []string{"longer context"}},
		{Name: "gemini: overloaded", Status: 503, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, Kind: model.Unavailable, Says: []string{"overloaded"}},
	} {
		t.Run(f.Name, func(t *testing.T) { f.Hold(t, subject()) })
	}
}
