import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

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

    /// `GET /v1/{ns}/access`: whether the request's key or token may read the whole namespace. A shared cache asks before it
    /// answers a poll from memory. Other readers get cursors with a digest of their rights, so that the server notices when their rights
    /// change: they have to ask the server.
    @Sendable func checkAccess(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        if let session = context.session {
            switch session.value.rights.decideFeed(in: namespace, .all) {
            case .everything: break
            case .needs(let missing): throw Problem(missing, of: session.value)
            case .part:
                throw Problem(
                    .forbidden,
                    "The key or token may read only a part of the namespace, and a shared cache has pages of all of it: send the request "
                        + "to the server itself.")
            }
        }
        context.respond(Response(status: .noContent, fields: .bare(at: nil)))
    }
}

extension Endpoint {
    /// Whether a request is one write. The writes of a batch, and the scopes of an invalidation, are counted by its handler.
    var isWrite: Bool {
        switch self {
        case .putRecord, .patchRecord, .deleteRecord, .deleteNamespace: true
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
