import FreshetServer
import FreshetTestSupport
import Testing

/// Every endpoint and every status of the protocol, as a real `curl` receives them.
@Suite("The wire, by curl")
struct CurlTests {
    @Test("records", arguments: CurlCase.records)
    func records(row: CurlCase) async throws { try await verify(row) }

    @Test("preconditions", arguments: CurlCase.preconditions)
    func preconditions(row: CurlCase) async throws { try await verify(row) }

    @Test("numbered writes", arguments: CurlCase.writes)
    func writes(row: CurlCase) async throws { try await verify(row) }

    @Test("lists, reads, invalidations", arguments: CurlCase.listsAndReads)
    func listsAndReads(row: CurlCase) async throws { try await verify(row) }

    @Test("changes", arguments: CurlCase.changes)
    func changes(row: CurlCase) async throws { try await verify(row) }

    @Test("namespaces and operation", arguments: CurlCase.operation)
    func operation(row: CurlCase) async throws { try await verify(row) }

    private func verify(_ row: CurlCase) async throws {
        try await SharedServer.withNamespace { root, namespace in
            var etag = ""
            var cursor = ""
            func fill(_ arguments: [String]) -> [String] {
                arguments.map {
                    $0.replacing("{ns}", with: "\(root)/v1/\(namespace)").replacing("{root}", with: root)
                        .replacing("{etag}", with: etag).replacing("{cursor}", with: cursor)
                        .replacing("{epoch}", with: cursor.prefix { $0 != "-" })
                }
            }
            // Given
            for arguments in row.given {
                let answer = try await curl(fill(arguments))
                try #require((200..<300).contains(answer.status), "\(arguments) answered \(answer.status) \(answer.body)")
                etag = answer.fields["etag"] ?? etag
                cursor = answer.fields["freshet-cursor"] ?? cursor
            }
            // When
            let answer = try await curl(fill(row.when))
            // Then
            #expect(answer.status == row.status, "\(answer.body)")
            for (name, part) in row.fields {
                let value = answer.fields[name]
                #expect(value != nil && (part.isEmpty || value?.contains(fill([part])[0]) == true), "\(name): \(value ?? "is missing")")
            }
            for part in row.body {
                #expect(answer.body.contains(fill([part])[0]), "\(part) is not in \(answer.body)")
            }
            if row.when.contains(where: { $0.hasPrefix("{ns}") }) {
                #expect(answer.fields["freshet-cursor"] != nil, "every response about a namespace carries its position")
            }
        }
    }
}
