extension OpenAPI {
    /// For tests alone: a server has these only if it was started with `--test-faults`.
    static let faultPaths = #"""
        "/v1/{namespace}/faults": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "armFault",
            "summary": "For tests alone: arms a fault, which strikes the requests that it matches.",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["effect"], "additionalProperties": false, "properties": {
              "effect": {"enum": ["drop-request", "drop-reply", "cut-reply", "duplicate", "delay-request", "delay-reply", "answer", "freeze", "expire-token"]},
              "on": {"enum": ["any", "changes", "writes", "reads", "records", "clients", "invalidations"], "default": "any"},
              "device": {"type": "string", "description": "Only requests with a token <device>.<generation>."},
              "times": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1}, "untilLifted": {"type": "boolean", "default": false},
              "milliseconds": {"type": "integer", "minimum": 0, "maximum": 60000}, "status": {"type": "integer", "minimum": 400, "maximum": 599},
              "retryAfter": {"type": "integer", "minimum": 0, "maximum": 86400, "default": 0}, "generation": {"type": "integer", "minimum": 0}}}}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "201": {"description": "Armed.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object"}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "500": {"$ref": "#/components/responses/storageFailed"}
            }
          },
          "get": {
            "operationId": "listFaults",
            "summary": "For tests alone: the faults that were armed since the last lifting, and how often each has struck.",
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "In the order in which they were armed.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object", "required": ["faults"], "properties": {"faults": {"type": "array", "items": {"type": "object"}}}}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"}
            }
          },
          "delete": {
            "operationId": "liftFaults",
            "summary": "For tests alone: disarms all faults. Frozen requests end, and delayed ones are handled at once.",
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "How many would still have struck.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object", "required": ["lifted"], "properties": {"lifted": {"type": "integer"}}}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"}
            }
          }
        },
        "/v1/{namespace}/faults/reset": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "resetNamespace",
            "summary": "For tests alone: gives the namespace a new epoch, its records as they are, as after a restore.",
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"$ref": "#/components/responses/namespace"},
              "400": {"$ref": "#/components/responses/invalid"},
              "404": {"$ref": "#/components/responses/notFound"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          }
        },
        "/v1/{namespace}/faults/compact": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "compactNamespace",
            "summary": "For tests alone: forgets the namespace's deletes and invalidations at once, so that cursors from before them expire.",
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "How many were forgotten.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object", "required": ["forgotten"], "properties": {"forgotten": {"type": "integer"}}}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          }
        }
        """#
}
