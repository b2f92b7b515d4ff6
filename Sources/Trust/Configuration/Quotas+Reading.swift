internal import FreshetWire

extension Quotas {
    init(_ reader: inout StrictReader) throws(TrustError) {
        self.init()
        try reader.object("address, principal, namespace and server") { name, reader throws(TrustError) in
            switch name {
            case "address":
                try reader.object("connections, unauthenticated, failures and handshakes") { name, reader throws(TrustError) in
                    switch name {
                    case "connections": address.connections = Int(try reader.integer(1...1_000_000))
                    case "unauthenticated": address.unauthenticated = try reader.rate()
                    case "failures": address.failures = try reader.rate()
                    case "handshakes": address.handshakes = try reader.rate()
                    default: return false
                    }
                    return true
                }
            case "principal":
                try reader.object("requests, writes, bytes and waits") { name, reader throws(TrustError) in
                    switch name {
                    case "requests": principal.requests = try reader.rate()
                    case "writes": principal.writes = try reader.rate()
                    case "bytes": principal.bytes = try reader.rate(isSize: true)
                    case "waits": principal.waits = Int(try reader.integer(1...1_000_000))
                    default: return false
                    }
                    return true
                }
            case "namespace":
                try reader.object("storage, records and clients") { name, reader throws(TrustError) in
                    switch name {
                    case "storage": namespace.storage = try reader.size()
                    case "records": namespace.records = try reader.integer(1...Int64.max)
                    case "clients": namespace.clients = try reader.integer(1...Int64.max)
                    default: return false
                    }
                    return true
                }
            case "server":
                try reader.object("requests, answers and feeds") { name, reader throws(TrustError) in
                    switch name {
                    case "requests": server.requests = try reader.size()
                    case "answers": server.answers = try reader.size()
                    case "feeds": server.feeds = try reader.size()
                    default: return false
                    }
                    return true
                }
            default: return false
            }
            return true
        }
    }
}
