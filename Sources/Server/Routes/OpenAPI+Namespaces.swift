extension OpenAPI {
    static let namespacePaths = #"""
        "/v1/{namespace}/writes": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "write",
            "summary": "Numbered writes of one client, each with its effect exactly once. Answered when they are on disk.",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WriteBatch"}}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "One result a write, in order. Where the writes edit or free large values there may be fewer than writes, but at least one: those without a result are not decided, and to be sent again.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "Freshet-Last-Write": {"$ref": "#/components/headers/lastWrite"}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WriteResults"}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "409": {"$ref": "#/components/responses/gap"},
              "410": {"$ref": "#/components/responses/otherEpoch"},
              "413": {"$ref": "#/components/responses/tooLarge"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          }
        },
        "/v1/{namespace}/invalidations": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "invalidate",
            "summary": "Makes all clients evict entries whose truth is in another system.",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Invalidation"}}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "The revision of the invalidation.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object", "required": ["revision"], "properties": {"revision": {"$ref": "#/components/schemas/Revision"}}}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "413": {"$ref": "#/components/responses/tooLarge"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          }
        },
        "/v1/{namespace}/clients/{client}": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}, {"name": "client", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Client"}}],
          "get": {
            "operationId": "getClient",
            "summary": "The last number of a client's writes, 0 if it has none.",
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "How far the client has come.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"type": "object", "required": ["client", "last"], "properties": {"client": {"type": "string"}, "last": {"type": "integer", "minimum": 0}}}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"}
            }
          }
        },
        "/v1/{namespace}/changes": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "get": {
            "operationId": "getChanges",
            "summary": "The changes after a position: a long poll, or with Accept: text/event-stream a stream.",
            "parameters": [
              {"name": "since", "in": "query", "required": true, "description": "A cursor; 0: from nothing; now: only the present cursor. A stream that resumes may send Last-Event-ID instead.", "schema": {"type": "string", "pattern": "^(0|now|[a-z0-9]{1,32}-(0|[1-8][0-9]{0,15}|9[0-9]{0,14})(-(0|[1-8][0-9]{0,15}|9[0-9]{0,14}))?)$"}},
              {"name": "collection", "in": "query", "description": "May be repeated; without it, all.", "schema": {"type": "array", "maxItems": 64, "items": {"$ref": "#/components/schemas/Collection"}}, "explode": true},
              {"$ref": "#/components/parameters/prefix"},
              {"name": "wait", "in": "query", "description": "Seconds to wait if there is nothing.", "schema": {"type": "integer", "minimum": 0, "maximum": 60, "default": 25}},
              {"name": "limit", "in": "query", "description": "The most changes on a page. Unless it is 1, a page goes on to the end of an atomic batch.", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}},
              {"name": "values", "in": "query", "description": "Whether values come along.", "schema": {"type": "boolean", "default": true}},
              {"name": "client", "in": "query", "description": "The response states the number of this client's last decided write as Freshet-Last-Write. Needs wait=0 and no stream.", "schema": {"$ref": "#/components/schemas/Client"}},
              {"name": "Last-Event-ID", "in": "header", "description": "The position of a stream that resumes; nothing else reads it.", "schema": {"type": "string"}}
            ],
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {
                "description": "There are changes, or since=now.",
                "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "Freshet-Last-Write": {"$ref": "#/components/headers/lastWrite"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChangePage"}}, "text/event-stream": {"schema": {"type": "string", "description": "Events 'changes' whose id is the cursor and whose data is a ChangePage."}}}
              },
              "204": {"description": "Nothing came in time; Freshet-Cursor is a new position.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "Freshet-Last-Write": {"$ref": "#/components/headers/lastWrite"}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "410": {"$ref": "#/components/responses/gone"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"}
            }
          }
        },
        "/v1/{namespace}": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "get": {
            "operationId": "getNamespace",
            "summary": "Where a namespace stands.",
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"$ref": "#/components/responses/namespace"},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"}
            }
          },
          "delete": {
            "operationId": "deleteNamespace",
            "summary": "Deletes a namespace with all that is in it. Its next use has a new epoch, which the answer shows.",
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
        }
        """#

    static let operationPaths = #"""
        "/v1": {
          "get": {
            "operationId": "getServer",
            "summary": "Which server this is, its limits and its namespaces (the first 1,000 by name).",
            "responses": {"421": {"$ref": "#/components/responses/misdirected"}, "200": {"description": "The server.", "content": {"application/json": {"schema": {"type": "object"}}}}, "500": {"$ref": "#/components/responses/storageFailed"}, "503": {"$ref": "#/components/responses/overloaded"}}
          }
        },
        "/healthz": {
          "get": {"operationId": "getHealth", "summary": "Whether the process runs.", "responses": {"421": {"$ref": "#/components/responses/misdirected"}, "200": {"description": "It runs.", "content": {"application/json": {}}}}}
        },
        "/readyz": {
          "get": {"operationId": "getReadiness", "summary": "Whether the server can commit.", "responses": {"421": {"$ref": "#/components/responses/misdirected"}, "200": {"description": "It can.", "content": {"application/json": {}}}, "503": {"$ref": "#/components/responses/overloaded"}}}
        },
        "/metrics": {
          "get": {"operationId": "getMetrics", "summary": "Prometheus text.", "responses": {"421": {"$ref": "#/components/responses/misdirected"}, "200": {"description": "The metrics.", "content": {"text/plain": {}}}, "503": {"$ref": "#/components/responses/overloaded"}}}
        },
        "/openapi.json": {
          "get": {"operationId": "getOpenAPI", "summary": "This document.", "responses": {"421": {"$ref": "#/components/responses/misdirected"}, "200": {"description": "OpenAPI 3.1.", "content": {"application/json": {}}}}}
        }
        """#
}
