#if PostgreSQL
import Testing

@testable import FreshetPostgreSQL

@Suite("The hosts of a URI") struct ConnectionSettingsTests {
    /// What libpq uses of a keyword that comes repeatedly: the last value.
    private func last(_ keyword: String, of settings: ConnectionSettings) -> String? {
        settings.parameters.last { $0.keyword == keyword }?.value
    }

    @Test("Each host has its part of the lists, and is used whether it accepts writes or not")
    func lists() throws {
        // Given
        let settings = try ConnectionSettings(uri: "postgres://u@a.example:1,b.example:2,c.example:3/x")
        // Then
        #expect(last("target_session_attrs", of: settings) == "read-write")
        let hosts = settings.hosts
        #expect(hosts.map { last("host", of: $0) } == ["a.example", "b.example", "c.example"])
        #expect(hosts.map { last("port", of: $0) } == ["1", "2", "3"])
        #expect(hosts.allSatisfy { last("target_session_attrs", of: $0) == "any" })
    }

    @Test("One port is that of all hosts, and addresses belong to their names")
    func addresses() throws {
        let hosts = try ConnectionSettings(uri: "postgres://u@/x?host=a,b&hostaddr=10.0.0.1,10.0.0.2&port=7").hosts
        #expect(hosts.map { last("host", of: $0) } == ["a", "b"] && hosts.map { last("port", of: $0) } == ["7", "7"])
        #expect(hosts.map { last("hostaddr", of: $0) } == ["10.0.0.1", "10.0.0.2"])
    }

    @Test("A URI with one host, or none, has one", arguments: ["postgres://u@a.example/x", "postgres:///x"])
    func one(_ uri: String) throws {
        let settings = try ConnectionSettings(uri: uri)
        #expect(settings.hosts.count == 1 && last("target_session_attrs", of: settings) == nil)
    }
}
#endif
