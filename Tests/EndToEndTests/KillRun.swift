import FreshetTestSupport
import FreshetWire
import Subprocess
import Synchronization

/// One run of the test that kills processes: a server, two devices, and a person who writes with `curl` and records the
/// ids answered with `200`.
struct KillRun {
    struct Report: Sendable {
        /// The number of writes that the server has decided for each device.
        var numbers: [Int] = []
        var sumOfCounters = 0
        var notes = 0
        /// Records that were answered `200` and are missing.
        var lost: [String] = []
        var kills = 0
    }

    let seed: UInt64
    let folder: String
    /// The number of writes of each device.
    let writes = 60

    private static let devices = ["device-a", "device-b"]

    func perform() async throws -> Report {
        let plan = KillPlan(seed: seed)
        let port = try await FreePort.shared.next()
        let root = "http://127.0.0.1:\(port)"
        let acknowledged = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve(on: port, plan) }
            group.addTask { try await withDevicesDone(root, plan) }
            let answered = try await writeUntilDone(root, plan)
            plan.end()
            try await group.waitForAll()
            return answered
        }
        return try await verify(root, port, plan, acknowledged)
    }

    /// Keeps a server running, killing it whenever the plan says so.
    private func serve(on port: Int, _ plan: KillPlan) async throws {
        while !plan.isOver {
            _ = try await run(
                Product.freshet, arguments: ["serve", "--port", "\(port)", "--data", "\(folder)/server"],
                input: .none, output: .discarded, error: .discarded
            ) { execution in
                await plan.nextDeath(of: .server)
                try execution.send(signal: .kill)
            }
        }
    }

    private func withDevicesDone(_ root: String, _ plan: KillPlan) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, name) in Self.devices.enumerated() {
                group.addTask { try await live(name, index, root, plan) }
            }
            try await group.waitForAll()
        }
        plan.devicesAreDone()
    }

    /// Keeps a device running until it has drained, killing it whenever the plan says so.
    private func live(_ name: String, _ index: Int, _ root: String, _ plan: KillPlan) async throws {
        for life in 0..<1_000 {
            let arguments: Arguments = [
                root, "kill", "\(folder)/\(name)", name, "\(seed &* 31 &+ UInt64(index * 1_000 + life))", "\(writes)",
            ]
            let ending = try await run(
                Product.device, arguments: arguments, input: .none, output: .sequence, error: .discarded
            ) { execution in
                for try await line in execution.standardOutput.strings() where line.hasPrefix("durable") {
                    if plan.countsDown(.device(index)) { try execution.send(signal: .kill) }
                }
            }
            if case .exited(let code) = ending.terminationStatus {
                guard code == 0 else { throw CommandFailure(description: "\(name) ended with \(code)") }
                return
            }
        }
    }

    /// Writes with `curl` during the whole run; returns the ids that were answered with success.
    private func writeUntilDone(_ root: String, _ plan: KillPlan) async throws -> [String] {
        var answered: [String] = []
        for number in 1... where true {
            if plan.areDevicesDone { break }
            let id = "n\(number)"
            let answer = try? await curl(
                ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "\(number)", "\(root)/v1/kill/records/raw/\(id)"])
            if let answer, (200..<300).contains(answer.status) { answered.append(id) }
        }
        return answered
    }

    private func verify(_ root: String, _ port: Int, _ plan: KillPlan, _ acknowledged: [String]) async throws -> Report {
        var report = Report(kills: plan.kills)
        _ = try await run(
            Product.freshet, arguments: ["serve", "--port", "\(port)", "--data", "\(folder)/server"],
            input: .none, output: .sequence, error: .discarded
        ) { execution in
            for try await line in execution.standardOutput.strings() where line.contains("listening") { break }
            for name in Self.devices {
                let status = try await curl(["\(root)/v1/kill/clients/\(name)"])
                report.numbers.append(Int(try ClientStatus(json: Array(status.body.utf8)).last))
            }
            for record in try await list("counters", root) {
                let text = String(decoding: record.content?.bytes ?? [], as: UTF8.self)
                report.sumOfCounters += Int(text.filter(\.isNumber)) ?? 0
            }
            report.notes = try await list("notes", root).count
            let raw = Set(try await list("raw", root).map(\.key.id))
            report.lost = acknowledged.filter { !raw.contains($0) }
            try execution.send(signal: .terminate)
        }
        return report
    }

    private func list(_ collection: String, _ root: String) async throws -> [Record] {
        var (records, after): ([Record], String) = ([], "")
        while true {
            let answer = try await curl(["\(root)/v1/kill/records/\(collection)?limit=1000\(after)"])
            let page = try RecordList(json: Array(answer.body.utf8))
            records += page.records
            guard let next = page.next else { return records }
            after = "&after=\(next)"
        }
    }
}
