/// The OpenAPI 3.1 document of `/openapi.json`, kept by hand; a test compares it with ``Endpoint``.
enum OpenAPI {
    static let document = document(paths: paths)
    /// The document of a server that takes faults.
    static let documentWithFaults = document(paths: "\(paths),\(faultPaths)")

    private static let paths = "\(recordPaths),\(namespacePaths),\(operationPaths)"

    private static func document(paths: String) -> [UInt8] {
        Array("{\(head),\"paths\":{\(paths)},\"components\":{\(components)}}".utf8)
    }

    private static let head = #"""
        "openapi": "3.1.0",
        "info": {
          "title": "Freshet",
          "version": "1",
          "description": "Cache invalidation and sync. Every answer about a namespace, errors included, carries Freshet-Cursor: the position of the state that it reflects, and Freshet-Store: which store it is from."
        }
        """#
}
