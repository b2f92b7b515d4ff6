import FreshetClient
import FreshetWire

/// Requests and responses in words. Positions are written as `@7`, without their epoch.
enum MessageText {
    static func of(_ kind: RequestDescription.Kind) -> String {
        switch kind {
        case .changes(let since, _, let wait, _, _): "GET changes \(words(since))" + (wait > 0 ? ", wait \(wait) s" : "")
        case .writes(let batch):
            "POST writes " + batch.writes.map { "\($0.number): \($0.operation.text) \($0.key)" }.joined(separator: "; ")
        case .reads(let request): "POST reads " + request.items.map(\.key.description).joined(separator: ", ")
        case .record(let key, _, _): "GET \(key)"
        case .list(let collection, let after, _): "GET \(collection)/" + (after.map { " after \($0)" } ?? "")
        case .clientStatus: "GET client status"
        }
    }

    static func of(_ reply: Reply) -> String {
        switch reply {
        case .page(let page):
            "200: \(page.changes.count) \(page.changes.count == 1 ? "change" : "changes") up to \(short(page.cursor))"
                + (page.upToDate ? "" : ", more to come")
        case .noChange(let cursor): "204: nothing up to \(short(cursor))"
        case .results(let results):
            "200: "
                + results.results.map { outcome in
                    switch outcome.verdict {
                    case .applied(let revision): "\(outcome.number) applied" + (revision.map { " at @\($0)" } ?? "")
                    case .rejected(let problem): "\(outcome.number) rejected (\(problem.code))"
                    case .settled: "\(outcome.number) settled"
                    }
                }.joined(separator: "; ")
        case .reads(let response): "200: \(response.records.count) records as of \(short(response.cursor))"
        case .record(let record, let cursor): "200: \(Replay.text(record.content)) at @\(record.revision) as of \(short(cursor))"
        case .list(let list):
            "200: \(list.records.count) ids as of \(short(list.cursor))" + (list.next.map { ", more after \($0)" } ?? "")
        case .notModified(let cursor): "304 as of \(short(cursor))"
        case .missing(let cursor): "404 as of \(short(cursor))"
        case .client(let status, _): "200: last write \(status.last)"
        case .problem(let problem, _, _): "\(problem.status) \(problem.code)"
        case .failure(let failure): words(failure)
        case .garbage(let text): "no response of the protocol: \(text)"
        case .tooLarge: "more than the device takes"
        }
    }

    /// The position that a response states.
    static func cursor(of reply: Reply) -> Cursor? {
        switch reply {
        case .page(let page): page.cursor
        case .noChange(let cursor), .record(_, let cursor), .notModified(let cursor), .missing(let cursor): cursor
        case .reads(let response): response.cursor
        case .list(let list): list.cursor
        case .results, .client, .problem, .failure, .garbage, .tooLarge: nil
        }
    }

    private static func short(_ cursor: Cursor) -> String { "@\(cursor.revision)" }

    private static func words(_ since: Since) -> String {
        switch since {
        case .start: "from the beginning"
        case .now: "from now"
        case .after(let cursor): "since \(short(cursor))"
        }
    }

    private static func words(_ failure: TransportFailure) -> String {
        switch failure {
        case .unreachable(let text), .untrusted(let text), .interrupted(let text): text
        case .watchdog: "no response in time"
        case .intercepted: "an answer of something on the way"
        case .otherStore: "an answer of another store"
        }
    }
}

extension Reply {
    /// Whether it answers a poll, and has no change.
    var bringsNothing: Bool {
        switch self {
        case .noChange: true
        case .page(let page): page.changes.isEmpty && page.upToDate
        default: false
        }
    }
}

extension WriteOperation {
    /// For people: what it does, without the key.
    var text: String {
        switch self {
        case .put(let content): "put \(Replay.text(content))"
        case .patch(let patch): "patch \(Replay.text(Content(checkedJSON: patch)))"
        case .delete: "delete"
        case .increment(let increment): "increment \(increment.words)"
        }
    }
}

extension ScenarioEvent {
    /// The incident for people: as in a scenario, but without how long it lasts, and with bytes by size and type.
    func words(_ name: (Int) -> String) -> String {
        let text = text(name)
        switch self {
        case .write(_, let key, .put(let content), _) where !content.isJSON:
            return "\(name(device ?? 0)) puts \(key) \(Replay.text(content))"
        case .serverWrite(let key, .put(let content)) where !content.isJSON: return "server puts \(key) \(Replay.text(content))"
        case .setClock(_, let change) where change.magnitude >= 1_000:
            let exact = DurationText.of(change.magnitude)
            return text.hasSuffix(exact) ? text.dropLast(exact.count) + Self.rounded(change.magnitude) : text
        default:
            guard let duration, duration != Self.untilUndone else { return text }
            let ending = " for \(DurationText.of(duration.magnitude))"
            return text.hasSuffix(ending) ? String(text.dropLast(ending.count)) : text
        }
    }

    /// A duration from a second on, in its largest unit and the next one.
    private static func rounded(_ milliseconds: UInt64) -> String {
        let (seconds, minutes, hours) = (milliseconds / 1_000, milliseconds / 60_000, milliseconds / 3_600_000)
        if hours >= 24 { return "\(hours / 24) d \(hours % 24) h" }
        if hours > 0 { return "\(hours) h \(minutes % 60) min" }
        return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
    }
}
