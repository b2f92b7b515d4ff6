import FreshetClient
import FreshetTestKit

/// The value that the tests store.
struct Note: Codable, Hashable, Sendable {
    var text: String
}

struct Tally: Codable, Hashable, Sendable {
    var count: Int
}

extension TestKit.Device {
    var notes: SyncedCollection<Note> { collection("notes") }
    var tallies: SyncedCollection<Tally> { collection("tallies") }
}

extension TestKit {
    var notes: BackendCollection<Note> { backend("notes") }
    var tallies: BackendCollection<Tally> { backend("tallies") }
}
