import Foundation
import Glibc
import Synchronization
import Testing

@testable import FreshetServer

/// Runs each test twice: as it is, and with servers whose stores do not answer at once, which note every call that would have
/// to wait on a thread that others need.
struct BothStores: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        let watch = StoreWatch()
        try await StoreWatch.$current.withValue(watch) { try await function() }
        #expect(watch.faults.isEmpty)
    }
}

extension Trait where Self == BothStores {
    /// Over a store that answers at once, and over one that does not.
    static var overBothStores: Self { Self() }
}

/// Watches on which threads a store is called that does not answer at once.
final class StoreWatch: Sendable {
    /// The watch over the stores of the servers that a test makes; `nil` if their stores answer at once.
    @TaskLocal static var current: StoreWatch?

    private let state = Mutex<(calls: Int, faults: Set<String>)>((0, []))

    /// The calls that were made where none may wait.
    var faults: Set<String> { state.withLock { $0.faults } }

    /// The number of calls.
    var calls: Int { state.withLock { $0.calls } }

    /// A store in memory that does not answer at once, with several lanes.
    func store(_ base: any RecordStore = MemoryRecordStore(seed: .random(in: 1...(.max)))) -> any RecordStore {
        ObservedStore(base, answersAtOnce: false, lanes: 4) { [self] call in note(call) }
    }

    private func note(_ call: ObservedStore.Call) {
        let queue = Self.currentQueue
        state.withLock { state in
            state.calls += 1
            switch (call, queue) {
            case (_, "freshet.loop"):
                // The innermost frames name the call.
                let frames = Thread.callStackSymbols.dropFirst(3).prefix(12).joined(separator: "\n")
                state.faults.insert("\(call) on \(queue):\n\(frames)")
            default: break
            }
        }
    }

    /// The label of the Dispatch queue that the calling thread works for. The overlay for Linux does not have the function.
    static var currentQueue: String {
        typealias Label = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
        guard let symbol = dlsym(nil, "dispatch_queue_get_label") else { preconditionFailure("libdispatch is loaded") }
        return unsafeBitCast(symbol, to: Label.self)(nil).map { String(cString: $0) } ?? ""
    }
}
