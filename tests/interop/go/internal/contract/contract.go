// Package contract holds what the agent and the client of this peer both know of the interop contract.
package contract

import "encoding/json"

// SDK names the SDK under test and its version, as the agent reports it when it is ready.
const SDK = "a2a-go 2.3.1"

// EchoExtension is the extension that every agent of the contract declares.
const EchoExtension = "https://example.com/ext/echo/v1"

// ExtendedSkill is the skill that only the extended card has.
const ExtendedSkill = "extended"

// MessageLimit bounds a gRPC message: the contract sends 5 MiB, which is above the default of gRPC.
const MessageLimit = 16 << 20

const data = `{
	"text": "żółw 🐢 \u2028 \" \\ <&>",
	"integer": 42,
	"negative": -7,
	"float": 1.5,
	"small": 1e-7,
	"safe": 9007199254740991,
	"null": null,
	"true": true,
	"list": [1, "two", null, [], {}],
	"object": {},
	"empty": ""
}`

// Data is the object of the verb "data", decoded anew for each caller.
func Data() map[string]any {
	var object map[string]any
	if err := json.Unmarshal([]byte(data), &object); err != nil {
		panic(err)
	}
	return object
}

// AllBytes is the content of the raw part of the verb "file".
func AllBytes() []byte {
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	return bytes
}
