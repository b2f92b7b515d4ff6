internal import CFreshetOpenAPI
import FreshetWire

/// The OpenAPI 3.1 document of `/openapi.json`, kept by hand in `Sources/CFreshetOpenAPI/document`; a test compares it with ``Endpoint``.
enum OpenAPI {
    static let document = bytes(of: freshet_openapi_document())

    /// The document of a server that takes faults. O(n) in its size.
    ///
    /// - Throws: ``WireError/invalidJSON(offset:reason:)`` if one of the files is not JSON, which a test excludes.
    static func documentWithFaults() throws(WireError) -> [UInt8] {
        try JSONDocument(document).merging(try JSONDocument(bytes(of: freshet_openapi_faults()))).bytes
    }

    private static func bytes(of file: freshet_openapi_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
