internal import FreshetWire

extension Configuration {
    /// Reads a file, and checks all of it.
    /// - Throws: ``TrustError`` at the first byte that breaks a rule. Nothing of the file is applied then.
    package init(json bytes: [UInt8], rules: Rules) throws(TrustError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .invalidValue(offset: 0, "the file has \(bytes.count) bytes, and at most \(Self.maximumBytes) are read")
        }
        self.init()
        var reader = StrictReader(bytes)
        var auditPlace: Int?
        var listenPlace = 0
        try reader.object(
            "listen, admin, hosts, origins, proxies, issuers, roles, anonymous, quotas, audit and auditRequired"
        ) { name, reader throws(TrustError) in
            switch name {
            case "listen":
                try reader.array(atMost: 16, "listeners") { reader throws(TrustError) in
                    let listener = try Listener(&reader, rules)
                    guard listener.port == 0 || !listeners.contains(where: { $0.host == listener.host && $0.port == listener.port }) else {
                        throw reader.fail("the address is there twice: remove one")
                    }
                    listeners.append(listener)
                }
                listenPlace = reader.start
            case "admin": admin = try AdminListener(&reader, rules)
            case "hosts":
                hosts = try reader.texts("hosts", "a name without scheme, port and path, such as sync.example.org", rules.isHostName)
            case "origins":
                let form = "scheme, host and a port that is not the scheme's own, alone, such as https://app.example.org"
                origins = try reader.texts("origins", form, rules.isOrigin)
            case "proxies": proxies = try reader.texts("proxies", "an address or a network, such as 10.0.0.0/8", rules.isNetwork)
            case "issuers":
                try reader.array(atMost: 32, "issuers") { reader throws(TrustError) in
                    let entry = try IssuerEntry(&reader)
                    guard !issuers.contains(where: { $0.issuer.isNamed(entry.issuer.name) }) else {
                        throw reader.fail("the issuer '\(entry.issuer.name.shortened)' is there twice: remove one")
                    }
                    issuers.append(entry)
                }
            case "roles": roles = try Self.roles(&reader)
            case "anonymous": anonymous = try Rights(&reader)
            case "quotas": quotas = try Quotas(&reader)
            case "audit": audit = try reader.path()
            case "auditRequired":
                isAuditRequired = try reader.boolean()
                auditPlace = reader.start
            default: return false
            }
            return true
        }
        try reader.end()
        guard !listeners.isEmpty else {
            throw .invalidValue(offset: reader.start, #"there is no listener: add "listen": [{"address": "127.0.0.1:8180"}]"#)
        }
        try checkClientRoles(at: listenPlace)
        if isAuditRequired, audit == nil, let auditPlace {
            throw .invalidValue(offset: auditPlace, "'auditRequired' takes a log: add the path of 'audit'")
        }
    }

    private func checkClientRoles(at offset: Int) throws(TrustError) {
        let named = listeners.filter { $0.clientRole != nil }
        for name in named.compactMap(\.clientRole) {
            guard let role = roles[name] else {
                throw .invalidValue(offset: offset, "'clientRole' is '\(name.shortened)', which 'roles' does not have: add it there")
            }
            guard !role.needsClaims else {
                throw .invalidValue(
                    offset: offset,
                    "'clientRole' is '\(name.shortened)', which has a {claim:…}, and a certificate has only {sub}: use another role"
                )
            }
        }
        guard Set(named.compactMap(\.clientAuthority)).count < 2 else {
            throw .invalidValue(
                offset: offset,
                "a name would stand for the clients of several authorities: take one 'clientAuthority' for all listeners with 'clientRole'")
        }
    }

    private static func roles(_ reader: inout StrictReader) throws(TrustError) -> [String: Role] {
        var roles: [String: Role] = [:]
        try reader.object("at most 1024 roles, with names of 1 to 64 of A-Z a-z 0-9 . _ -") { name, reader throws(TrustError) in
            // Names of collections have the same characters.
            guard roles.count < 1_024, (try? RecordKey.check(collection: name.text)) != nil else { return false }
            roles[name.text] = try Role(&reader)
            return true
        }
        return roles
    }
}

extension StrictReader {
    /// A path of a file.
    mutating func path() throws(TrustError) -> String {
        let path = try text()
        guard path.utf8.count <= 4_096, !path.utf8.contains(0) else { throw fail("a path has 1 to 4096 bytes without NUL") }
        return path
    }

    /// At most 256 texts that pass a check, each once.
    mutating func texts(_ what: String, _ form: String, _ isRight: (String) -> Bool) throws(TrustError) -> [String] {
        var texts: [String] = []
        try array(atMost: 256, what) { reader throws(TrustError) in
            let text = try reader.text()
            guard isRight(text) else { throw reader.fail("'\(text.shortened)' is none of \(what): it takes \(form)") }
            guard !texts.contains(text) else { throw reader.fail("'\(text.shortened)' is there twice: remove one") }
            texts.append(text)
        }
        return texts
    }
}

extension Configuration.Listener {
    fileprivate init(_ reader: inout StrictReader, _ rules: Configuration.Rules) throws(TrustError) {
        var address: (host: String, port: UInt16)?
        var certificates: [Configuration.Certificate] = []
        var (authority, role): (String?, String?)
        try reader.object("address, tls, clientAuthority and clientRole") { name, reader throws(TrustError) in
            switch name {
            case "address": address = try reader.address(rules)
            case "tls": certificates = try reader.certificates()
            case "clientAuthority": authority = try reader.path()
            case "clientRole": role = try reader.text()
            default: return false
            }
            return true
        }
        guard let address else { throw reader.fail(#"a listener takes an address, such as {"address": "127.0.0.1:8180"}"#) }
        guard authority == nil || !certificates.isEmpty else {
            throw reader.fail("'clientAuthority' takes 'tls' beside it: add the server's certificate")
        }
        guard role == nil || authority != nil else {
            throw reader.fail("'clientRole' takes 'clientAuthority' beside it: add the certificates that sign those of the clients")
        }
        (host, port, self.certificates, clientAuthority, clientRole) = (address.host, address.port, certificates, authority, role)
    }
}

extension Configuration.AdminListener {
    fileprivate init(_ reader: inout StrictReader, _ rules: Configuration.Rules) throws(TrustError) {
        var socket: String?
        var address: (host: String, port: UInt16)?
        var certificates: [Configuration.Certificate] = []
        var authority: String?
        try reader.object("socket, or address, tls and clientAuthority") { name, reader throws(TrustError) in
            switch name {
            case "socket":
                socket = try reader.path()
                // sockaddr_un has 108 bytes with the NUL at its end: unix(7).
                guard (socket?.utf8.count ?? 0) < 108 else {
                    throw reader.fail("the path of a socket has at most 107 bytes: choose a shorter one")
                }
            case "address": address = try reader.address(rules)
            case "tls": certificates = try reader.certificates()
            case "clientAuthority": authority = try reader.path()
            default: return false
            }
            return true
        }
        switch (socket, address) {
        case (let socket?, nil) where certificates.isEmpty && authority == nil: self = .socket(socket)
        case (nil, let address?) where !certificates.isEmpty:
            self = .address(
                Configuration.Listener(
                    host: address.host, port: address.port, certificates: certificates, clientAuthority: authority, clientRole: nil))
        default: throw reader.fail("'admin' takes a socket, or an address with tls")
        }
    }
}

extension StrictReader {
    /// `host:port`; an IPv6 address stands in brackets.
    fileprivate mutating func address(_ rules: Configuration.Rules) throws(TrustError) -> (host: String, port: UInt16) {
        let text = try text()
        let advice = "'\(text.shortened)' is no address: it takes host:port, such as 127.0.0.1:8180 or [::1]:8180"
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { throw fail(advice) }
        let (before, digits) = (text.utf8[..<colon], text.utf8[text.utf8.index(after: colon)...])
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(String(Substring(digits))) else { throw fail(advice) }
        let isBracketed = before.first == UInt8(ascii: "[") && before.last == UInt8(ascii: "]") && before.count > 2
        let host = String(Substring(isBracketed ? before.dropFirst().dropLast() : before))
        let isRight =
            isBracketed
            ? host.utf8.contains(UInt8(ascii: ":")) && rules.isNetwork(host) && !host.utf8.contains(UInt8(ascii: "/"))
            : rules.isHostName(host) && host != "*"
        guard isRight else { throw fail(advice) }
        return (host, port)
    }

    /// One certificate, or an array of several.
    fileprivate mutating func certificates() throws(TrustError) -> [Configuration.Certificate] {
        guard peek() == UInt8(ascii: "[") else { return [try Configuration.Certificate(&self)] }
        var certificates: [Configuration.Certificate] = []
        try array(atMost: 64, "certificates") { reader throws(TrustError) in certificates.append(try Configuration.Certificate(&reader)) }
        guard !certificates.isEmpty else { throw fail("'tls' takes a certificate: add one, or leave 'tls' out") }
        return certificates
    }
}

extension Configuration.Certificate {
    fileprivate init(_ reader: inout StrictReader) throws(TrustError) {
        var chain: String?
        var key: String?
        try reader.object("certificate and key") { name, reader throws(TrustError) in
            switch name {
            case "certificate": chain = try reader.path()
            case "key": key = try reader.path()
            default: return false
            }
            return true
        }
        guard let chain, let key else { throw reader.fail("'tls' takes the paths of 'certificate' and 'key'") }
        (self.chain, self.key) = (chain, key)
    }
}
