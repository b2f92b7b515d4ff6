import FreshetSocketHTTP
import FreshetTrust
import FreshetWire

extension ServerCore {
    /// `GET /v1/{ns}/rights`: what the request's key or token may do in the namespace.
    @Sendable func getRights(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("principal")
        if let session = context.session { writer.string(session.value.principal.text) } else { writer.null() }
        writer.member("expires")
        if let expires = context.session?.value.expires {
            writer.string(Timestamp(milliseconds: expires).description)
        } else {
            writer.null()
        }
        for verb in Verb.allCases {
            writer.member(verb.rawValue)
            writer.beginArray()
            for range in context.rights.ranges(of: verb, in: namespace).ranges { writer.string(range.rangeText) }
            writer.endArray()
        }
        writer.endObject()
        context.respond(json: writer.bytes, at: nil)
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

    /// Whether only the operators' listener has the endpoint, if there is one.
    var isForOperators: Bool {
        switch self {
        case .getServer, .getReadiness, .getMetrics, .listKeys, .makeKey, .getKey, .changeKey, .rotateKey, .revokeKey, .listRevocations,
            .makeRevocation, .reload:
            true
        default: false
        }
    }

    /// Whether a request must have a key or token on a server with access control.
    var needsSession: Bool { self != .getHealth && self != .getOpenAPI }
}
