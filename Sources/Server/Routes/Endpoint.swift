import HTTPTypes

/// All endpoints, on which the router, the metrics and the OpenAPI document agree.
enum Endpoint: Int, CaseIterable, Sendable {
    case getRecord, putRecord, patchRecord, deleteRecord, listRecords
    case read, write, invalidate, getClient, getChanges
    case getNamespace, deleteNamespace, getRights, checkAccess, makeTicket, getServer
    case listKeys, makeKey, getKey, changeKey, rotateKey, revokeKey, listRevocations, makeRevocation, listDenials, reload
    case getHealth, getReadiness, getMetrics, getOpenAPI

    var method: HTTPRequest.Method {
        switch self {
        case .putRecord: .put
        case .patchRecord, .changeKey: .patch
        case .deleteRecord, .deleteNamespace, .revokeKey: .delete
        case .read, .write, .invalidate, .makeTicket, .makeKey, .rotateKey, .makeRevocation, .reload: .post
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
        case .getRights: "/v1/{namespace}/rights"
        case .checkAccess: "/v1/{namespace}/access"
        case .makeTicket: "/v1/{namespace}/tickets"
        case .getServer: "/v1"
        case .listKeys, .makeKey: "/admin/keys"
        case .getKey, .changeKey, .revokeKey: "/admin/keys/{id}"
        case .rotateKey: "/admin/keys/{id}/rotate"
        case .listRevocations, .makeRevocation: "/admin/revocations"
        case .reload: "/admin/reload"
        case .listDenials: "/admin/denials"
        case .getHealth: "/healthz"
        case .getReadiness: "/readyz"
        case .getMetrics: "/metrics"
        case .getOpenAPI: "/openapi.json"
        }
    }
}
