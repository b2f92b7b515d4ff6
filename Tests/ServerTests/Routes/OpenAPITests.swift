import FreshetWire
import HTTPTypes
import Testing

@testable import FreshetServer

@Suite("OpenAPI document") struct OpenAPITests {
    /// A look into JSON: members by name, `nil` for anything else.
    private func member(_ document: JSONDocument?, _ name: String) -> JSONDocument? {
        guard case .object(let members)? = document else { return nil }
        return members.first { $0.name == name }?.value
    }

    private func names(_ document: JSONDocument?) -> [String] {
        guard case .object(let members)? = document else { return [] }
        return members.map(\.name)
    }

    /// The statuses of an endpoint's answers: those of its handler, of another host, and, if the endpoint changes
    /// something, of another origin.
    private func statuses(of endpoint: Endpoint) -> Set<String> {
        handled(by: endpoint).union(endpoint.needsSession ? ["401", "403", "421", "429", "503"] : ["421"])
    }

    /// The statuses that the handlers of an endpoint can answer with.
    private func handled(by endpoint: Endpoint) -> Set<String> {
        let failed: Set = ["400", "500"]
        let committed: Set = ["200", "400", "500", "503", "507"]
        return switch endpoint {
        case .getRecord: failed.union(["200", "304", "404", "412", "503"])
        case .putRecord: committed.union(["201", "409", "412", "413", "415"])
        case .patchRecord: committed.union(["404", "409", "412", "413", "415"])
        case .deleteRecord: committed.union(["404", "409", "412"])
        case .listRecords: failed.union(["200", "503"])
        case .read: failed.union(["200", "413", "415", "503"])
        case .write: committed.union(["409", "410", "413", "415"])
        case .invalidate: committed.union(["413", "415"])
        case .getClient, .getNamespace: failed.union(["200"])
        case .getRights: ["200", "400"]
        case .checkAccess: ["204", "400"]
        case .makeTicket: ["201", "400", "404", "413", "415"]
        case .listKeys, .getKey, .listRevocations, .listDenials: ["200", "404"]
        case .makeKey, .makeRevocation: ["201", "400", "404", "409", "413", "415", "500", "503", "507"]
        case .changeKey, .rotateKey: ["200", "400", "404", "413", "415", "500", "503", "507"]
        case .revokeKey: ["200", "404", "500", "503", "507"]
        case .getChanges: failed.union(["200", "204", "410", "503"])
        case .deleteNamespace: committed.union(["404"])
        case .reload: ["200", "404", "409", "503"]
        case .getServer: ["200", "404", "500", "503"]
        case .getReadiness, .getMetrics: ["200", "404", "503"]
        case .getHealth, .getOpenAPI: ["200"]
        }
    }

    private func document() throws -> JSONDocument { try JSONDocument(OpenAPI.document) }

    @Test func everyRouteAndStatusIsInIt() throws {
        // Given
        let document = try document()
        let endpoints = Endpoint.allCases
        let paths = member(document, "paths")
        // Then
        #expect(member(document, "openapi") == .string("3.1.0"))
        for endpoint in endpoints {
            let operation = member(member(paths, endpoint.pattern), endpoint.method.rawValue.lowercased())
            #expect(Set(names(member(operation, "responses"))) == statuses(of: endpoint), "\(endpoint)")
        }
        #expect(Set(names(paths)) == Set(endpoints.map(\.pattern)))
        let operations = names(paths).flatMap { names(member(paths, $0)).filter { $0 != "parameters" } }
        #expect(operations.count == endpoints.count)
    }

    @Test func everyReferenceLeadsSomewhere() throws {
        // Given
        let document = try document()
        var references: [String] = []
        func collect(_ value: JSONDocument) {
            switch value {
            case .object(let members):
                for member in members {
                    if member.name == "$ref", case .string(let text) = member.value { references.append(text) }
                    collect(member.value)
                }
            case .array(let elements): for element in elements { collect(element) }
            default: break
            }
        }
        // When
        collect(document)
        // Then
        #expect(references.count > 50)
        for reference in Set(references) {
            let steps = reference.split(separator: "/")
            #expect(steps.first == "#")
            #expect(steps.dropFirst().reduce(Optional(document)) { member($0, String($1)) } != nil, "\(reference)")
        }
    }

    @Test func everyParameterOfAPathIsDeclared() throws {
        // Given
        let paths = member(try document(), "paths")
        // Then
        for path in names(paths) where path.contains("{") {
            guard case .array(let parameters)? = member(member(paths, path), "parameters") else {
                Issue.record("\(path) declares no parameters")
                continue
            }
            #expect(parameters.count == path.count { $0 == "{" }, "\(path)")
        }
    }
}
