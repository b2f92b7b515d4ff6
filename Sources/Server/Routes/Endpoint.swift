import HTTPTypes

/// All endpoints, on which the router, the metrics and the OpenAPI document agree.
enum Endpoint: Int, CaseIterable, Sendable {
    case getRecord, putRecord, patchRecord, deleteRecord, listRecords
    case read, write, invalidate, getClient, getChanges
    case getNamespace, deleteNamespace, getServer
    case getHealth, getReadiness, getMetrics, getOpenAPI

    var method: HTTPRequest.Method {
        switch self {
        case .putRecord: .put
        case .patchRecord: .patch
        case .deleteRecord, .deleteNamespace: .delete
        case .read, .write, .invalidate: .post
        default: .get
        }
    }

    var pattern: String {
        switch self {
        case .getRecord, .putRecord, .patchRecord, .deleteRecord: "/v1/{namespace}/records/{collection}/{id}"
        case .listRecords: "/v1/{namespace}/records/{collection}"
        case .read: "/v1/{namespace}/reads"
        case .write: "/v1/{namespace}/writes"
        case .invalidate: "/v1/{namespace}/invalidations"
        case .getClient: "/v1/{namespace}/clients/{client}"
        case .getChanges: "/v1/{namespace}/changes"
        case .getNamespace, .deleteNamespace: "/v1/{namespace}"
        case .getServer: "/v1"
        case .getHealth: "/healthz"
        case .getReadiness: "/readyz"
        case .getMetrics: "/metrics"
        case .getOpenAPI: "/openapi.json"
        }
    }
}
