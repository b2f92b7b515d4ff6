import FreshetClient
import FreshetWire

/// Shows all changes, from this kiosk and from others, for as long as the client runs.
struct Display: Sendable {
    let shop: Shop

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await showStatus() }
            group.addTask { await show(shop.products) { "product \($0): \($1.name), \($1.price) cents" } }
            group.addTask { await show(shop.stocks) { "stock \($0): \($1.count)" } }
            group.addTask { await show(shop.pictures) { "picture \($0): \($1.bytes.count) bytes" } }
            group.addTask { await showRejections() }
        }
    }

    /// Prints a line whenever the status bar would change.
    private func showStatus() async {
        var last = ""
        for await status in shop.client.statuses {
            let line = Self.line(status)
            if line != last { Terminal.say(line) }
            last = line
            if status.connection == .stopped { return }
        }
    }

    private func show<Value>(_ collection: SyncedCollection<Value>, _ text: @Sendable (String, Value) -> String) async {
        do {
            for try await change in collection.changes() {
                for id in change.removed { Terminal.say("\(collection.name) \(id) is gone") }
                for snapshot in change.inserted + change.updated {
                    if let error = snapshot.decodingError { Terminal.say("error: \(error)") }
                    // A large value is read after the change that announces it, and then comes as another change.
                    guard let value = snapshot.value else { continue }
                    Terminal.say(text(snapshot.id, value) + (snapshot.isPending ? ", pending" : ""))
                }
            }
        } catch {
            Terminal.say("error: \(error)")
        }
    }

    /// Prints each rejection once, those of earlier processes too.
    private func showRejections() async {
        var shown: Set<Int64> = []
        do {
            for try await rejections in shop.client.rejections {
                for rejection in rejections where shown.insert(rejection.number).inserted { Terminal.say(Self.line(rejection)) }
            }
        } catch {
            Terminal.say("error: \(error)")
        }
    }

    static func line(_ status: SyncClient.Status) -> String {
        let connection =
            switch status.connection {
            case .live: "live"
            case .catchingUp: "catching up"
            case .offline: "offline"
            case .unauthorized: "log in again"
            case .forbidden: "no right to read the shop"
            case .stopped: "stopped"
            }
        var line = "status: \(connection), \(status.waitingWrites) waiting, \(status.rejectedWrites) rejected"
        // Being offline is a normal state here. Errors that the user can fix are shown.
        for case let error? in [status.writeError, status.feedError] {
            if case .unreachable = error { continue }
            line += "; \(error)"
        }
        return line
    }

    static func line(_ rejection: SyncClient.Rejection) -> String {
        let wish =
            switch rejection.operation {
            case .increment(let increment): "add \(increment.amount)"
            case .put(let content): "write \(content.bytes.count) bytes"
            case .patch, .delete: rejection.operation.name
            }
        return "rejected \(rejection.number): \(wish) to \(rejection.key): \(rejection.problem.code.text)"
    }
}
