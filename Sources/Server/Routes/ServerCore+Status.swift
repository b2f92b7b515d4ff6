import Dispatch
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import Logging

extension ServerCore {
    /// `GET /v1`: the server, its limits, and those of its namespaces in which the request may do anything.
    @Sendable func getServer(_ context: RequestContext) {
        context.later { [self] in
            let namespaces = try namespaces(within: context.rights)
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("server", "freshet")
            writer.member("protocol", 1)
            writer.member("openapi", Endpoint.getOpenAPI.pattern)
            writer.member("valueLimit", Int64(settings.valueLimit))
            writer.member("editLimit", Int64(settings.editLimit))
            writer.member("inlineLimit", Int64(settings.feed.inlineBytes))
            writer.member("hold", Int64(settings.hold))
            writer.member("namespaces")
            writer.beginArray()
            for namespace in namespaces { writer.string(namespace.name) }
            writer.endArray()
            writer.endObject()
            context.respond(json: writer.bytes, at: nil)
        }
    }

    /// The most namespaces that are listed; tests make many.
    private static let namespaceLimit = 1_000

    /// The first namespaces in which the rights allow anything. One read for each grant at most.
    private func namespaces(within rights: Rights) throws(StoreError) -> [Namespace] {
        var found: [Namespace] = []
        for pattern in rights.reach where found.count < Self.namespaceLimit {
            // Of the names that begin with the whole name of a namespace, that name is the first.
            let limit = if case .namespace = pattern { 1 } else { Self.namespaceLimit - found.count }
            found += try store.namespaces(withPrefix: pattern.prefix, limit: limit).filter(pattern.matches)
        }
        return found
    }

    /// `GET /v1/{ns}`
    @Sendable func getNamespace(_ context: RequestContext) throws {
        let status = try status(of: try context.namespace())
        context.respond(json: status.json, at: status.cursor)
    }

    /// `DELETE /v1/{ns}`
    @Sendable func deleteNamespace(_ context: RequestContext) throws {
        let namespace = try context.namespace()
        committer.submit(
            .drop(namespace, unless: context.sessionProblem) { [self] committed in
                switch (committed.result, committed.cursor) {
                case (.success(true), let cursor?):
                    // Nothing is left, so nothing has to be read where writers wait.
                    let status = NamespaceStatus(
                        namespace: namespace, cursor: cursor, records: 0, bytes: 0, waiting: feeds.waiting(in: namespace))
                    context.respond(Response(json: status.json, at: cursor), logging: [context.event(.namespaceDropped)], endsSession: true)
                case (.success, let cursor): context.fail(Problem(.notFound, "There is no namespace \(namespace)"), at: cursor)
                case (.failure(let problem), let cursor): context.fail(problem, at: cursor)
                }
            })
    }

    /// `GET /healthz`
    @Sendable func getHealth(_ context: RequestContext) { context.respond(json: Array(#"{"status":"ok"}"#.utf8), at: nil) }

    /// `GET /readyz`
    @Sendable func getReadiness(_ context: RequestContext) {
        readiness.check(now: now()) { problem in
            guard let problem else { return context.respond(json: Array(#"{"status":"ready"}"#.utf8), at: nil) }
            context.fail(Problem(.unavailable, "The server cannot commit. \(problem.detail)"))
        }
    }

    /// `POST /admin/reload`: reads the configuration and the certificates again, all or nothing.
    @Sendable func reloadConfiguration(_ context: RequestContext) {
        reloads.async { [self] in
            do throws(RecordServerError) { try reload(by: context.event(.configurationReloaded)) } catch {
                return context.fail(
                    Problem(
                        .invalidRequest, "Nothing was applied, and the former configuration stays in force: \(error.description)",
                        status: 409))
            }
            logger.notice("the configuration was read again")
            audit.afterEarlierRecords { isWritten in
                guard isWritten else { return context.fail(AuditLog.unwritten) }
                context.respond(Response(json: Array(#"{"reloaded":true}"#.utf8), at: nil), endsSession: true)
            }
        }
    }

    /// `GET /openapi.json`
    @Sendable func getOpenAPI(_ context: RequestContext) { context.respond(json: OpenAPI.document, at: nil) }

    func status(of namespace: Namespace) throws -> NamespaceStatus {
        let counts = try store.counts(of: namespace)
        return NamespaceStatus(
            namespace: namespace, cursor: counts.cursor, records: counts.state.records, bytes: counts.state.bytes,
            tombstones: counts.value.tombstones, invalidations: counts.value.invalidations, clients: counts.value.clients,
            outcomes: counts.value.outcomes, outcomeBytes: counts.value.outcomeBytes, waiting: feeds.waiting(in: namespace))
    }
}
