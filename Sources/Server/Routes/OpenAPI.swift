internal import CFreshetOpenAPI

/// The OpenAPI 3.1 document of `/openapi.json`, kept by hand in `Sources/CFreshetOpenAPI/document`; a test compares it with ``Endpoint``.
enum OpenAPI {
    static let document: [UInt8] = {
        let file = freshet_openapi_document()
        return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }()
}
