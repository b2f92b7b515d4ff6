extension OpenAPI {
    static let components = "\(parameters),\(responses),\(schemas)"

    private static let parameters = #"""
        "headers": {
          "cursor": {"description": "The position of the state that the answer reflects.", "schema": {"$ref": "#/components/schemas/Cursor"}},
          "store": {"description": "Which store the answer is from, whatever its address; 'memory' where the records go with the server.", "schema": {"type": "string", "pattern": "^[a-z0-9]{1,32}$"}},
          "lastWrite": {"description": "The number of the client's last write that is decided in that state; where the request names a client, and for writes.", "schema": {"type": "integer", "minimum": 0}},
          "etag": {"description": "Strong: the record's own position in quotes.", "schema": {"type": "string", "pattern": "^\"[a-z0-9]{1,32}-[0-9]{1,16}\"$"}}
        },
        "parameters": {
          "namespace": {"name": "namespace", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,62}$"}},
          "collection": {"name": "collection", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Collection"}},
          "prefix": {"name": "prefix", "in": "query", "description": "Only ids that begin so, at most 512 bytes of UTF-8 without NUL.", "schema": {"$ref": "#/components/schemas/Prefix"}},
          "ifMatch": {"name": "If-Match", "in": "header", "description": "* or entity tags.", "schema": {"$ref": "#/components/schemas/EntityTags"}},
          "ifNoneMatch": {"name": "If-None-Match", "in": "header", "description": "* or entity tags.", "schema": {"$ref": "#/components/schemas/EntityTags"}},
          "client": {"name": "Freshet-Client", "in": "header", "description": "Only with Freshet-Write: the write takes part in exactly once.", "schema": {"$ref": "#/components/schemas/Client"}},
          "reader": {"name": "client", "in": "query", "description": "The response states the number of this client's last decided write as Freshet-Last-Write.", "schema": {"$ref": "#/components/schemas/Client"}},
          "write": {"name": "Freshet-Write", "in": "header", "description": "Only with Freshet-Client: the number of the write.", "schema": {"type": "integer", "minimum": 1, "maximum": 9007199254740991}}
        }
        """#

    private static let responses = "\"responses\":{\(successes),\(problems)}"

    private static let successes = #"""
        "written": {
          "description": "On disk.",
          "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}, "ETag": {"$ref": "#/components/headers/etag"}},
          "content": {"application/json": {"schema": {"type": "object", "required": ["key", "cursor"], "properties": {"key": {"$ref": "#/components/schemas/Key"}, "revision": {"$ref": "#/components/schemas/Revision"}, "cursor": {"$ref": "#/components/schemas/Cursor"}}}}}
        },
        "namespace": {
          "description": "Where it stands.",
          "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}},
          "content": {"application/json": {"schema": {"type": "object", "required": ["namespace", "epoch", "head", "records", "bytes", "tombstones", "invalidations", "clients", "outcomes", "outcomeBytes", "waiting", "cursor"], "properties": {
            "namespace": {"type": "string"}, "epoch": {"type": "string"}, "head": {"type": "integer", "minimum": 0}, "records": {"type": "integer"},
            "bytes": {"type": "integer", "description": "Of all values."},
            "tombstones": {"type": "integer"}, "invalidations": {"type": "integer"}, "clients": {"type": "integer"},
            "outcomes": {"type": "integer"}, "outcomeBytes": {"type": "integer"}, "waiting": {"type": "integer"}, "cursor": {"$ref": "#/components/schemas/Cursor"}}}}}
        }
        """#

    /// One response a kind of problem.
    private static let problems = [
        ("invalid", "invalid-request, invalid-json, invalid-key, invalid-cursor: 'detail' says what would be right."),
        ("notFound", "not-found."),
        ("preconditionFailed", "precondition-failed: 'current' is the record as it is, without its value if that has more than 64 KiB."),
        ("gap", "write-gap: 'expected' is the number that comes next."), ("tooLarge", "too-large: 'detail' says the limit."),
        ("unsupported", "unsupported-media-type: 'detail' says the right one, for PATCH Accept-Patch too."),
        ("misdirected", "misdirected-request: Host names none of the server's names."),
        ("foreignOrigin", "forbidden: a browser says that the request comes from another origin."),
        ("gone", "cursor-expired, epoch-changed, cursor-ahead: start again from a list."),
        (
            "otherEpoch",
            "epoch-changed: nothing was done. Ask for the client's last number, and send with this epoch the writes that have no verdict, under their numbers."
        ),
        ("overloaded", "overloaded, unavailable: come back after Retry-After."),
        ("storageFailed", "storage-failed: nothing was stored."), ("storageFull", "storage-full: nothing was stored."),
    ]
    .map { name, text in
        """
        "\(name)": {"description": "\(text)", "headers": {"Freshet-Cursor": {"$ref": "#/components/headers/cursor"}, "Freshet-Store": {"$ref": "#/components/headers/store"}}, \
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        """
    }
    .joined(separator: ",")

    private static let schemas = #"""
        "schemas": {
          "Cursor": {"type": "string", "pattern": "^[a-z0-9]{1,32}-(0|[1-8][0-9]{0,15}|9[0-9]{0,14})(-(0|[1-8][0-9]{0,15}|9[0-9]{0,14}))?$", "description": "Opaque: keep it and give it back.", "examples": ["05m2tq8k1c7va-1043"]},
          "Revision": {"type": "integer", "minimum": 0, "maximum": 9007199254740991},
          "OptionalRevision": {"type": ["integer", "null"], "minimum": 0, "maximum": 9007199254740991},
          "Client": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
          "EntityTags": {"type": "string", "anyOf": [{"const": "*"}, {"pattern": "^(W/)?\"[!#-~]*\"(, (W/)?\"[!#-~]*\")*$"}]},
          "Collection": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
          "Prefix": {"type": "string", "pattern": "^([\\u0001-\\u007F]{0,512}|[^\\u0000]{0,128})$", "description": "At most 512 bytes of UTF-8 without NUL."},
          "Key": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}/([\\u0001-\\u007F]{1,512}|[^\\u0000]{1,128})$", "description": "collection/id. An id has 1 to 512 bytes of UTF-8 without NUL, which no pattern can say: this one takes ids of at most 512 characters of ASCII, or 128 of any.", "examples": ["customers/7"]},
          "Body": {"type": "object", "required": ["base64"], "properties": {
            "base64": {"type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}, "contentType": {"type": "string", "pattern": "^[ -~]{1,255}$", "default": "application/octet-stream"}}},
          "Record": {"type": "object", "required": ["key", "revision", "contentType", "size", "modified"], "properties": {
            "key": {"$ref": "#/components/schemas/Key"}, "revision": {"$ref": "#/components/schemas/Revision"}, "value": {}, "body": {"$ref": "#/components/schemas/Body"},
            "contentType": {"type": "string"}, "size": {"type": "integer"}, "modified": {"type": "string", "format": "date-time"}}},
          "RecordList": {"type": "object", "required": ["records", "next", "cursor"], "properties": {
            "records": {"type": "array", "items": {"$ref": "#/components/schemas/Record"}}, "next": {"type": ["string", "null"]}, "cursor": {"$ref": "#/components/schemas/Cursor"}}},
          "ReadsRequest": {"type": "object", "required": ["keys"], "properties": {
            "client": {"$ref": "#/components/schemas/Client"},
            "keys": {"type": "array", "maxItems": 10000, "items": {"type": "object", "required": ["key"], "properties": {
              "key": {"$ref": "#/components/schemas/Key"}, "revision": {"$ref": "#/components/schemas/OptionalRevision"}}}}}},
          "ReadsResponse": {"type": "object", "required": ["records", "missing", "next", "cursor"], "properties": {
            "records": {"type": "array", "items": {"$ref": "#/components/schemas/Record"}}, "missing": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}},
            "next": {"type": ["integer", "null"], "minimum": 1, "description": "The place in 'keys', from 0, of the first key that is not answered: ask again from there."}, "cursor": {"$ref": "#/components/schemas/Cursor"}}},
          "WriteBatch": {
            "type": "object", "required": ["client", "writes"], "dependentSchemas": {"resume": {"anyOf": [{"required": ["epoch"]}, {"properties": {"resume": {"const": false}}}]}},
            "properties": {
              "client": {"$ref": "#/components/schemas/Client"},
              "epoch": {"type": "string", "pattern": "^[a-z0-9]{1,32}$", "description": "Only in this history of the namespace."},
              "resume": {"type": "boolean", "default": false, "description": "Only with 'epoch': take the first number as the next, since those left out before it were decided in another history and will never be sent in this one."},
              "atomic": {"type": "boolean", "default": false},
              "writes": {"type": "array", "minItems": 1, "maxItems": 1000, "description": "Their numbers follow each other.", "items": {"$ref": "#/components/schemas/Write"}}}},
          "Write": {
            "type": "object", "required": ["number", "op", "key"],
            "properties": {
              "number": {"type": "integer", "minimum": 1, "maximum": 9007199254740991}, "op": {"enum": ["put", "patch", "delete", "increment"]},
              "key": {"$ref": "#/components/schemas/Key"}, "value": {}, "body": {"$ref": "#/components/schemas/Body"},
              "path": {"type": "string", "pattern": "^(/([^/~]|~[01])*){0,128}$", "maxLength": 4096, "description": "A JSON pointer (RFC 6901) of at most 128 steps and 4,096 bytes."},
              "by": {"$ref": "#/components/schemas/Addend"}, "onMissing": {"enum": ["create", "reject"], "default": "create", "description": "What an increment does where there is no record: begin from 'value', or from 0; or be rejected."},
              "min": {"$ref": "#/components/schemas/Bound"}, "max": {"$ref": "#/components/schemas/Bound"}, "ifRevision": {"$ref": "#/components/schemas/OptionalRevision"},
              "nonce": {"type": ["integer", "null"], "minimum": 1, "maximum": 9007199254740991, "description": "Random: distinguishes the write from another of the same client and number, as of a copied device."}},
            "not": {"required": ["value", "body"]},
            "oneOf": [
              {"properties": {"op": {"const": "put"}}, "anyOf": [{"required": ["value"]}, {"required": ["body"]}]},
              {"properties": {"op": {"const": "patch"}}, "required": ["value"]},
              {"properties": {"op": {"const": "delete"}}},
              {"properties": {"op": {"const": "increment"}}, "required": ["path", "by"], "not": {"anyOf": [{"required": ["body"]}, {"required": ["value", "onMissing"], "properties": {"onMissing": {"const": "reject"}}}]}}]},
          "Addend": {"type": "number", "description": "A whole number of 64 bits, or any other that a double holds."},
          "Bound": {"type": ["number", "null"], "description": "The least or the most that an increment's sum may be: beyond, it is rejected with out-of-bounds. 'min' is not above 'max'."},
          "WriteResults": {"type": "object", "required": ["results", "cursor"], "properties": {
            "cursor": {"$ref": "#/components/schemas/Cursor"},
            "results": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "object", "required": ["number", "status"], "properties": {
              "number": {"type": "integer", "minimum": 1}, "status": {"enum": ["applied", "rejected", "settled"]}, "revision": {"$ref": "#/components/schemas/Revision"},
              "problem": {"$ref": "#/components/schemas/Problem"}}}}}},
          "Invalidation": {"oneOf": [
            {"type": "object", "required": ["keys"], "additionalProperties": false, "properties": {"keys": {"type": "array", "minItems": 1, "maxItems": 10000, "items": {"$ref": "#/components/schemas/Key"}}}},
            {"type": "object", "required": ["collection"], "additionalProperties": false, "properties": {"collection": {"$ref": "#/components/schemas/Collection"}, "prefix": {"$ref": "#/components/schemas/Prefix"}}},
            {"type": "object", "required": ["all"], "additionalProperties": false, "properties": {"all": {"const": true}}}]},
          "Change": {"type": "object", "required": ["revision", "op"], "properties": {
            "key": {"$ref": "#/components/schemas/Key"}, "revision": {"$ref": "#/components/schemas/Revision"}, "op": {"enum": ["put", "delete", "invalidate"]},
            "value": {}, "body": {"$ref": "#/components/schemas/Body"}, "contentType": {"type": "string"}, "size": {"type": "integer"},
            "modified": {"type": "string", "format": "date-time"}, "client": {"type": "string"}, "write": {"type": "integer"},
            "collection": {"type": "string"}, "prefix": {"type": "string"}}},
          "ChangePage": {"type": "object", "required": ["changes", "cursor", "upToDate"], "properties": {
            "changes": {"type": "array", "items": {"$ref": "#/components/schemas/Change"}}, "cursor": {"$ref": "#/components/schemas/Cursor"}, "upToDate": {"type": "boolean"}}},
          "Problem": {"type": "object", "required": ["type", "title", "status", "detail"], "properties": {
            "type": {"type": "string", "description": "urn:freshet:problem:<code>"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
            "current": {"$ref": "#/components/schemas/Record"}, "expected": {"type": "integer"}}}
        }
        """#
}
