import FreshetClient
import FreshetFaultProxy
import FreshetWire

/// A record of the demo that both devices change.
struct Trip: Codable, Hashable, Sendable {
    var title: String
    var stops: [String]
}

extension DemoScript {
    /// Measures how long a write on one device takes to reach another, and to be acknowledged to its writer.
    mutating func writeOnAArrivesAtB() async throws {
        output.begin("A writes, B has it")
        let rounds = 20
        var arrivals: [Duration] = []
        var verdicts: [Duration] = []
        let theirs = b.collection("countries")
        var snapshots = theirs.snapshots(forKey: "NZ").makeAsyncIterator()
        for round in 1...rounds {
            let start = clock.now
            let write = try await a.collection("countries").merge(["capital": "Wellington", "round": "\(round)"], into: "NZ")
            let revision = try await write.waitUntilConfirmed()
            verdicts.append(clock.now - start)
            while let snapshot = try await snapshots.next(), snapshot.revision ?? .zero < revision ?? .zero {}
            arrivals.append(clock.now - start)
        }
        output.report(
            "\(rounds) writes: confirmed to A after \(Self.median(verdicts).text), at B after \(Self.median(arrivals).text)"
                + " (median; slowest \(arrivals.max()?.text ?? ""))")
        output.check("B shows the last of them", expected: "true", seen: "\(Self.text(theirs["NZ"]).contains("\"round\":\"\(rounds)\""))")
        try await checkCaches()
    }

    /// Writes without a connection: shown at once, kept over a restart of the device, confirmed after reconnecting.
    mutating func writeOffline() async throws {
        output.begin("B writes offline")
        let (b, link) = (b, link)
        let languages = b.collection("languages")
        let before = Self.text(a.collection("languages")["mri"])
        link.refuse()
        try await b.offline()
        output.report("B's cable is pulled")

        let written = #"{"alpha_3":"mri","name":"Te reo Māori"}"#
        let time = try await measure { try await languages.setValue(Content(json: Array(written.utf8)), forKey: "mri") }
        output.report("the write was on B's disk after \(time.text)")
        output.check("B shows its own value, pending", expected: "\(written), pending", seen: Self.pendingText(languages["mri"]))
        output.check("A still has the old one", expected: before, seen: Self.text(a.collection("languages")["mri"]))
        output.check("one write waits on B's disk", expected: "1", seen: "\(try b.disk().waiting)")

        let keys = try await truth().tier.entries.keys.sorted()
        let restart = try await measure {
            await b.client.stop()
            try await b.client.start()
        }
        // Memory is empty after the restart, so these values come from the disk.
        let reading = try await measure {
            for key in keys { _ = try await b.collection(key.collection).snapshot(forKey: key.id, policy: .cacheOnly) }
        }
        output.report("B restarts in \(restart.text) and reads its \(grouped(keys.count)) records from disk in \(reading.text)")
        output.check(
            "B shows it after a restart too", expected: "\(written), pending",
            seen: Self.pendingText(languages["mri"]))

        let confirmation = try await measure {
            link.acceptAgain()
            try await within(.seconds(30), "B's write to be confirmed") { try await b.client.waitUntilDrained() }
        }
        output.report("confirmed \(confirmation.text) after the cable was plugged in")
        try await checkCaches()
        output.check("A has it, and it is pending nowhere", expected: written, seen: Self.pendingText(a.collection("languages")["mri"]))
    }

    /// Changes one record on two disconnected devices; a closure merges the two values.
    mutating func mergeConflict() async throws {
        output.begin("A and B change one record apart, and it is merged")
        let merge: MergeClosure<Trip> = { conflict in
            guard let base = conflict.base, let mine = conflict.mine, let theirs = conflict.theirs else { return .takeTheirs }
            let added = mine.stops.filter { !base.stops.contains($0) && !theirs.stops.contains($0) }
            return .value(Trip(title: mine.title == base.title ? theirs.title : mine.title, stops: theirs.stops + added))
        }
        let (b, link) = (b, link)
        let mine = b.client.collection("trips", of: Trip.self, merging: merge)
        let theirs = a.client.collection("trips", of: Trip.self)
        try await theirs.setValue(Trip(title: "Summer", stops: ["NZ"]), forKey: "1").waitUntilConfirmed()
        try await checkCaches()

        link.refuse()
        try await b.offline()
        let write = try await mine.setValue(Trip(title: "Summer", stops: ["NZ", "FJ"]), forKey: "1", onConflict: .merge)
        try await theirs.setValue(Trip(title: "Winter", stops: ["NZ", "AQ"]), forKey: "1").waitUntilConfirmed()
        output.report("B, offline, added Fiji; A renamed it and added Antarctica")
        let time = try await measure {
            link.acceptAgain()
            _ = try await within(.seconds(30), "the merged write to be confirmed") { try await write.waitUntilConfirmed() }
        }
        output.report("merged and confirmed \(time.text) after the cable was plugged in")
        try await checkCaches()
        let merged = "\(Trip(title: "Winter", stops: ["NZ", "AQ", "FJ"]))"
        output.check("A shows both changes", expected: merged, seen: "\(theirs["1"]?.value ?? Trip(title: "", stops: []))")
        output.check("B shows both changes", expected: merged, seen: "\(mine["1"]?.value ?? Trip(title: "", stops: []))")
    }

    private static func pendingText(_ snapshot: Snapshot<Content>?) -> String {
        text(snapshot) + (snapshot?.isPending == true ? ", pending" : "")
    }

    private static func median(_ durations: [Duration]) -> Duration { durations.sorted()[durations.count / 2] }
}
