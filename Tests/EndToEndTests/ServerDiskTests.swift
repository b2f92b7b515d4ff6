import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// A server whose disk fails: clear errors, and no acknowledged write is lost.
@Suite("A server's disk")
struct ServerDiskTests {
    private func put(_ root: String, _ id: Int) async throws -> CurlAnswer {
        let value = "\"\(String(repeating: "x", count: 60_000))\""
        return try await curl(["-X", "PUT", "-H", "Content-Type: application/json", "-d", value, "\(root)/v1/disk/records/c/\(id)"])
    }

    @Test("when it is full, writes say so, reads go on, and nothing acknowledged is lost", .enabled(if: SmallDisk.isAvailable))
    func full() async throws {
        try await SmallDisk.with(kibibytes: 3_000) { disk in
            // Given a server on a small disk
            let server = try RecordServer.running(RecordServerConfiguration(directory: "\(disk.path)/data"))
            // When it is written to until it is full
            var acknowledged: [Int] = []
            var refusal: CurlAnswer?
            for id in 0..<100 where refusal == nil {
                let answer = try await put(server.url, id)
                if answer.status == 201 { acknowledged.append(id) } else { refusal = answer }
            }
            // Then the write that found no room fails with the reason
            let answer = try #require(refusal)
            #expect(answer.status == 507)
            #expect(answer.body.contains("urn:freshet:problem:storage-full"))
            #expect(acknowledged.count > 5)
            // And reads continue, while the server reports that it cannot commit
            for id in acknowledged { #expect(try await curl(["\(server.url)/v1/disk/records/c/\(id)"]).status == 200) }
            #expect(try await curl(["\(server.url)/healthz"]).status == 200)
            // And once there is room again, writes succeed
            try await disk.grow(to: 20_000)
            #expect(try await put(server.url, 1_000).status == 201)
            // And after a restart every acknowledged write is there
            await server.stop()
            let again = try RecordServer.running(RecordServerConfiguration(directory: "\(disk.path)/data"))
            for id in acknowledged + [1_000] { #expect(try await curl(["\(again.url)/v1/disk/records/c/\(id)"]).status == 200) }
            await again.stop()
        }
    }

    @Test("one that cannot be written is refused at the start, with what to do", .enabled(if: SmallDisk.isAvailable))
    func readOnly() async throws {
        try await SmallDisk.with(kibibytes: 3_000) { disk in
            try await disk.makeReadOnly()
            #expect {
                try RecordServer.running(RecordServerConfiguration(directory: "\(disk.path)/data"))
            } throws: { error in
                "\(error)".contains(disk.path) && error is RecordServerError
            }
        }
    }
}
