import FreshetSocketHTTP
import FreshetTrust
import FreshetWire

extension ServerCore {
    /// `GET /v1/{ns}/rights`: what the request's key or token may do in the namespace.
    @Sendable func getRights(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        func ranges(_ verb: Verb) -> [String] { context.rights.ranges(of: verb, in: namespace).ranges.map(\.rangeText) }
        let rights = AccessRights(
            principal: context.session?.value.principal.text, expires: context.session?.value.expires.map(Timestamp.init(milliseconds:)),
            read: ranges(.read), write: ranges(.write), invalidate: ranges(.invalidate), create: ranges(.create), drop: ranges(.drop),
            inspect: ranges(.inspect))
        context.respond(json: rights.json, at: nil)
    }
}

extension Endpoint {
    /// Whether a request is one write. The writes of a batch are counted by its handler.
    var isWrite: Bool {
        switch self {
        case .putRecord, .patchRecord, .deleteRecord, .invalidate, .deleteNamespace: true
        default: false
        }
    }

    /// Whether the handler makes short reads of the store; see ``RecordStore/record(_:in:for:valueBytes:)``.
    var isLookup: Bool {
        switch self {
        case .getRecord, .getClient, .getNamespace: true
        default: false
        }
    }

    /// Whether only the operators' listener has the endpoint, if there is one.
    var isForOperators: Bool {
        switch self {
        case .getServer, .getReadiness, .getMetrics, .listKeys, .makeKey, .getKey, .changeKey, .rotateKey, .revokeKey, .listRevocations,
            .makeRevocation, .listDenials, .reload:
            true
        default: false
        }
    }

    /// Whether a request must have a key or token on a server with access control.
    var needsSession: Bool { self != .getHealth && self != .getOpenAPI }
}
