import FreshetSocketHTTP
import FreshetTrust
import HTTPTypes

extension ServerCore {
    /// `GET /metrics`. Runs on the read queue, since it visits every feed.
    @Sendable func getMetrics(_ context: RequestContext) {
        context.later { [self] in
            let fields: ResponseFields = [
                .contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            ]
            context.respond(Response(status: .ok, fields: fields, body: Array(metricsText().utf8)))
        }
    }

    private func metricsText() -> String {
        var text = MetricsText()
        if let statistics = statistics() { add(connections: statistics, to: &text) }
        if let end = certificates.map(\.end).min() {
            text.gauge(
                "freshet_tls_certificate_expiry_timestamp_seconds", "When the first certificate ends, in seconds since 1970.",
                Int(end))
        }
        addFeed(to: &text)
        addStore(to: &text)
        if let statistics = store.statistics() { add(statistics, to: &text) }
        if let follower { add(follower.statistics, to: &text) }
        if let access { add(access, to: &text) }
        addAudit(to: &text)
        // Counts that the store cannot supply are left out: the other counts are wanted all the more then.
        if let totals = try? store.totals() { add(totals, to: &text) }
        if let bytes = MetricsText.residentBytes() { text.gauge("process_resident_memory_bytes", "Resident memory.", bytes) }
        return text.text
    }

    private func add(connections: HTTPServerStatistics, to text: inout MetricsText) {
        let responses = (Endpoint.allCases.map(Optional.some) + [nil]).flatMap { endpoint in
            metrics.responses(endpoint).map { statusClass, count in
                let route = endpoint.map { "method=\"\($0.method.rawValue)\",route=\"\($0.pattern)\"" } ?? "method=\"\",route=\"\""
                return (labels: "\(route),status=\"\(statusClass)\"", value: count)
            }
        }
        text.counters("freshet_http_responses_total", "Responses by route and class of status.", responses)
        text.counter("freshet_http_requests_total", "Requests that passed the parser.", connections.requests)
        text.counter(
            "freshet_http_requests_refused_total", "Requests that were refused unparsed, or before their body.", connections.requestsRefused
        )
        text.gauge("freshet_http_connections", "Connections open now.", connections.connectionsOpen)
        text.counter("freshet_http_connections_accepted_total", "Connections accepted.", connections.connectionsAccepted)
        text.counter("freshet_http_connections_refused_total", "Connections beyond the limit.", connections.connectionsRefused)
        text.counter(
            "freshet_http_connections_refused_by_address_total", "Connections beyond the limit of their address.",
            connections.connectionsRefusedByAddress)
        text.counter("freshet_http_slow_readers_dropped_total", "Connections whose peer did not read.", connections.slowReadersDropped)
        text.counter(
            "freshet_http_requests_shed_total", "Unfinished requests refused since too many bytes of such were kept.",
            connections.requestsShed)
        text.counter(
            "freshet_http_answers_shed_total", "Connections dropped since too many bytes of answers waited.", connections.answersShed)
        text.gauge("freshet_http_request_bytes", "Bytes kept of requests.", connections.requestBytes)
        text.gauge("freshet_http_answer_bytes", "Bytes of answers that wait to be sent.", connections.answerBytes)
        text.counter("freshet_http_received_bytes_total", "Bytes received.", connections.bytesIn)
        text.counter("freshet_http_sent_bytes_total", "Bytes sent.", connections.bytesOut)
        guard !certificates.isEmpty else { return }
        text.counter("freshet_tls_handshakes_total", "Completed TLS handshakes.", connections.handshakes)
        text.counter("freshet_tls_failures_total", "Connections closed for a failed handshake or record.", connections.failedHandshakes)
        text.counter(
            "freshet_tls_handshakes_refused_total", "Connections beyond the rate of handshakes of their address.",
            connections.handshakesRefused)
    }

    private func addFeed(to text: inout MetricsText) {
        let totals = feeds.totals()
        text.gauge("freshet_feed_waiters", "Clients that wait for changes now, streams included.", totals.waiting)
        text.gauge("freshet_feed_namespaces", "Namespaces whose feed is in memory.", totals.feeds)
        text.gauge("freshet_feed_recent_changes", "Changes in memory.", totals.changes)
        text.gauge("freshet_feed_recent_bytes", "Bytes of the changes in memory.", totals.bytes)
        text.counter(
            "freshet_feed_evictions_total", "Namespaces whose changes left memory since all had too many.", metrics.feed.evicted.value)
        text.counter("freshet_feed_hits_total", "Polls and streams answered from memory.", metrics.feed.hits.value)
        text.counter("freshet_feed_scans_total", "Polls and streams that the store had to answer.", metrics.feed.scans.value)
        text.counter("freshet_feed_waits_total", "Polls and streams that had to wait.", metrics.feed.waits.value)
        text.counter("freshet_feed_woken_total", "Waits that a change ended.", metrics.feed.woken.value)
        text.counter("freshet_feed_expired_total", "Waits that ended with nothing.", metrics.feed.expired.value)
        text.counter("freshet_feed_gone_total", "Positions that could not be followed.", metrics.feed.gone.value)
    }

    private func add(_ access: AccessControl, to text: inout MetricsText) {
        text.counter("freshet_tokens_verified_total", "Tokens whose signature was checked.", access.verified.value)
        text.counter(
            "freshet_http_requests_limited_total", "Requests refused for a rate, or as one wait too many.", access.limits.refused.value)
        text.gauge(
            "freshet_issuer_fetch_failures", "Fetches of issuers' keys that failed since the last one of their issuer that succeeded.",
            access.fetchFailures)
    }

    private func addAudit(to text: inout MetricsText) {
        text.counters(
            "freshet_refusals_total", "Requests refused for their credential, their rights or a quota.",
            audit.refusalCounts.map { (labels: "event=\"\($0.event.rawValue)\"", value: $0.count) })
        let counts = audit.counts
        text.counter("freshet_audit_lines_total", "Lines of the audit log that were written.", counts.written)
        text.counter("freshet_audit_lines_lost_total", "Lines of the audit log that could not be written.", counts.lost)
        text.gauge("freshet_audit_failing", "Whether the audit log cannot be written now, 0 or 1.", counts.isFailing ? 1 : 0)
    }

    private func add(_ totals: StoreTotals, to text: inout MetricsText) {
        text.gauge("freshet_store_namespaces", "Namespaces.", totals.namespaces)
        text.gauge("freshet_store_records", "Records, deleted ones not counted.", totals.records)
        text.gauge("freshet_store_value_bytes", "Bytes of the records' values.", totals.bytes)
        text.gauge("freshet_store_tombstones", "Deletes that are not forgotten yet.", totals.counts.tombstones)
        text.gauge("freshet_store_invalidations", "Invalidations that are not forgotten yet.", totals.counts.invalidations)
        text.gauge("freshet_store_clients", "Clients that have written under a number.", totals.counts.clients)
        text.gauge("freshet_store_outcomes", "Outcomes of clients' writes that are kept.", totals.counts.outcomes)
        text.gauge("freshet_store_outcome_bytes", "Bytes of these outcomes.", totals.counts.outcomeBytes)
    }

    private func add(_ statistics: StoreStatistics, to text: inout MetricsText) {
        text.gauge("freshet_store_write_connections_in_use", "Connections that transactions use.", statistics.writing)
        text.gauge("freshet_store_read_connections_in_use", "Connections that reads use.", statistics.reading)
        text.counter("freshet_store_connections_opened_total", "Connections that were opened.", statistics.opened)
        text.counter("freshet_store_connection_failures_total", "Connections that could not be opened.", statistics.failures)
        guard let age = statistics.oldestTransaction else { return }
        text.gauge(
            "freshet_store_oldest_transaction_seconds",
            "Age of the oldest transaction with a snapshot: until it ends, replaced rows cannot be removed.", age)
    }

    private func add(_ statistics: StoreFollower.Statistics, to text: inout MetricsText) {
        text.gauge(
            "freshet_announcements_connected", "Whether commits of other servers are announced, 0 or 1.", statistics.isConnected ? 1 : 0)
        text.gauge("freshet_announcements_waiting", "Namespaces whose commits wait to be announced.", statistics.waiting)
        text.counter("freshet_announcements_sent_total", "Messages to the other servers.", statistics.sent)
        text.counter("freshet_announcements_received_total", "Messages of all servers, those of this one included.", statistics.received)
        text.counter("freshet_reconciliations_total", "Comparisons of all feeds with the store.", statistics.reconciliations)
        text.counter("freshet_reconciliations_failed_total", "Those that could not read the store.", statistics.failedReconciliations)
    }

    private func addStore(to text: inout MetricsText) {
        text.gauge(
            "freshet_data_usable", "1; 0 once the server's files were moved, replaced or deleted, until it is started again.",
            store.failure == nil ? 1 : 0)
        text.counter("freshet_commits_total", "Transactions that changed something.", metrics.commits.value)
        text.counter("freshet_commits_failed_total", "Transactions that failed.", metrics.failedCommits.value)
        text.counter("freshet_changes_total", "Changes committed.", metrics.changes.value)
        text.histogram("freshet_commit_changes", "Changes in one transaction.", metrics.groupSizes)
        text.histogram("freshet_write_seconds", "Seconds from a write's request to its answer.", metrics.writeSeconds)
        text.gauge("freshet_writes_waiting", "Submissions that wait for the disk.", committer.waiting)
        text.gauge("freshet_write_lanes_busy", "Lanes in which a transaction runs, or is about to.", committer.busyLanes)
        text.gauge("freshet_reads_waiting", "Reads that wait for a thread.", reads.depth + lookups.depth)
        text.counter("freshet_reads_refused_total", "Scans refused since too many waited.", metrics.refusedReads.value)
        text.counter("freshet_forgotten_total", "Deletes and invalidations forgotten.", metrics.forgotten.value)
        text.counter(
            "freshet_outcomes_forgotten_total", "Outcomes of idle clients' writes forgotten.", metrics.forgottenOutcomes.value)
    }
}
