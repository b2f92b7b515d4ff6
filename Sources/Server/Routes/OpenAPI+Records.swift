extension OpenAPI {
    static let recordPaths = #"""
        "/v1/{namespace}/records/{collection}/{id}": {
          "parameters": [
            {"$ref": "#/components/parameters/namespace"},
            {"$ref": "#/components/parameters/collection"},
            {"name": "id", "in": "path", "required": true, "description": "1 to 512 bytes of UTF-8 without NUL, percent-encoded; a slash is %2F.", "schema": {"type": "string", "pattern": "^([\\u0001-\\u007F]{1,512}|[^\\u0000]{1,128})$"}}
          ],
          "get": {
            "operationId": "getRecord",
            "summary": "The value's own bytes. HEAD is answered too.",
            "parameters": [{"$ref": "#/components/parameters/ifNoneMatch"}, {"$ref": "#/components/parameters/ifMatch"}, {"$ref": "#/components/parameters/reader"}],
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {
                "description": "The value.",
                "headers": {
                  "Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"},
                  "Freshet-Last-Write": {"$ref": "#/components/headers/lastWrite"},
                  "ETag": {"$ref": "#/components/headers/etag"},
                  "Last-Modified": {"description": "For people; nothing is decided by it.", "schema": {"type": "string"}},
                  "Cache-Control": {"schema": {"const": "private, no-cache"}},
                  "Content-Security-Policy": {"schema": {"const": "sandbox; default-src 'none'"}}
                },
                "content": {"*/*": {}}
              },
              "304": {"description": "If-None-Match names its entity tag.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "ETag": {"$ref": "#/components/headers/etag"}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "404": {"$ref": "#/components/responses/notFound"},
              "412": {"$ref": "#/components/responses/preconditionFailed"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"}
            }
          },
          "put": {
            "operationId": "putRecord",
            "summary": "Stores the body as the value, at most 16 MiB; without a body, an empty one. application/json is checked; any other type is stored as it is.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}, {"$ref": "#/components/parameters/ifNoneMatch"}, {"$ref": "#/components/parameters/client"}, {"$ref": "#/components/parameters/write"}],
            "requestBody": {"required": false, "content": {"application/json": {}, "*/*": {}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"$ref": "#/components/responses/written"},
              "201": {"$ref": "#/components/responses/written"},
              "400": {"$ref": "#/components/responses/invalid"},
              "409": {"$ref": "#/components/responses/gap"},
              "412": {"$ref": "#/components/responses/preconditionFailed"},
              "413": {"$ref": "#/components/responses/tooLarge"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          },
          "patch": {
            "operationId": "patchRecord",
            "summary": "Merges a JSON merge patch (RFC 7396) into the value.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}, {"$ref": "#/components/parameters/ifNoneMatch"}, {"$ref": "#/components/parameters/client"}, {"$ref": "#/components/parameters/write"}],
            "requestBody": {"required": true, "content": {"application/merge-patch+json": {}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"$ref": "#/components/responses/written"},
              "400": {"$ref": "#/components/responses/invalid"},
              "404": {"$ref": "#/components/responses/notFound"},
              "409": {"$ref": "#/components/responses/gap"},
              "412": {"$ref": "#/components/responses/preconditionFailed"},
              "413": {"$ref": "#/components/responses/tooLarge"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          },
          "delete": {
            "operationId": "deleteRecord",
            "summary": "Deletes the record.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}, {"$ref": "#/components/parameters/ifNoneMatch"}, {"$ref": "#/components/parameters/client"}, {"$ref": "#/components/parameters/write"}],
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"$ref": "#/components/responses/written"},
              "400": {"$ref": "#/components/responses/invalid"},
              "404": {"$ref": "#/components/responses/notFound"},
              "409": {"$ref": "#/components/responses/gap"},
              "412": {"$ref": "#/components/responses/preconditionFailed"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"},
              "507": {"$ref": "#/components/responses/storageFull"}
            }
          }
        },
        "/v1/{namespace}/records/{collection}": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/collection"}],
          "get": {
            "operationId": "listRecords",
            "summary": "The records of a collection, ordered by the bytes of their ids. A page without records is the last only if 'next' is null. Following the feed from the first page's cursor misses nothing.",
            "parameters": [
              {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
              {"name": "after", "in": "query", "description": "Only ids after this one: the 'next' of the page before.", "schema": {"type": "string"}},
              {"name": "values", "in": "query", "description": "Whether values come along.", "schema": {"type": "boolean", "default": true}},
              {"$ref": "#/components/parameters/prefix"}
            ],
            "responses": {
              "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "A page.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RecordList"}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"}
            }
          }
        },
        "/v1/{namespace}/reads": {
          "parameters": [{"$ref": "#/components/parameters/namespace"}],
          "post": {
            "operationId": "read",
            "summary": "Many records at once, only those that differ from what the asker has.",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ReadsRequest"}}}},
            "responses": {
              "403": {"$ref": "#/components/responses/foreignOrigin"}, "421": {"$ref": "#/components/responses/misdirected"},
              "200": {"description": "What differs.", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "Freshet-Last-Write": {"$ref": "#/components/headers/lastWrite"}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ReadsResponse"}}}},
              "400": {"$ref": "#/components/responses/invalid"},
              "415": {"$ref": "#/components/responses/unsupported"},
              "413": {"$ref": "#/components/responses/tooLarge"},
              "500": {"$ref": "#/components/responses/storageFailed"},
              "503": {"$ref": "#/components/responses/overloaded"}
            }
          }
        }
        """#
}
