internal import HTTPTypes

/// The content of one name in the store: the only response of a URL, or the list of its variants for different
/// requests.
package enum HTTPCacheRecord: Hashable, Sendable {
    case response(StoredHTTPResponse)
    /// The variants, newest first.
    case variants([VarySelection])

    /// The most variants of one URL. Beyond that the oldest is removed.
    package static let mostVariants = 16

    /// The name of a URL's record.
    package static func name(of url: HTTPURL) -> String { url.description }

    /// The name of a variant's record. It contains a line end, so no URL has it.
    ///
    /// It contains a hash of the request's fields and not their values: a store may not encrypt names, and a value may be
    /// a secret. Two variants of one hash displace each other.
    package static func name(of selection: VarySelection, at url: HTTPURL) -> String {
        var writer = ByteWriter(bytes: [])
        writer.append(selection)
        return "\(url)\n" + String(checksum(writer.bytes[...]), radix: 16)
    }
}

/// The encoding: `FHTC`, version, kind, content, then a checksum of all preceding bytes. Numbers are little-endian,
/// texts are UTF-8 after their length, and values of fields are bytes after theirs. Bytes that do not match this
/// exactly are rejected.
extension HTTPCacheRecord {
    private static let mark: [UInt8] = [0x46, 0x48, 0x54, 0x43, 1]

    package var encoded: [UInt8] {
        var writer = ByteWriter(bytes: Self.mark)
        switch self {
        case .response(let response):
            writer.bytes.append(0)
            writer.append(response)
        case .variants(let variants):
            writer.bytes.append(1)
            writer.append(number: Int64(variants.count))
            for variant in variants { writer.append(variant) }
        }
        writer.append(number: Int64(bitPattern: Self.checksum(writer.bytes[...])))
        return writer.bytes
    }

    package init?(encoded bytes: [UInt8]) {
        guard bytes.starts(with: Self.mark), bytes.count >= Self.mark.count + 9 else { return nil }
        var end = ByteReader(bytes: bytes[(bytes.count - 8)...])
        let content = bytes[..<(bytes.count - 8)]
        guard end.number() == Int64(bitPattern: Self.checksum(content)) else { return nil }
        var reader = ByteReader(bytes: content[Self.mark.count...])
        switch reader.byte() {
        case 0:
            guard let response = reader.response() else { return nil }
            self = .response(response)
        case 1:
            guard let variants = reader.list({ $0.selection() }) else { return nil }
            self = .variants(variants)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// FNV-1a over words of eight bytes. Detects damage, but not deliberate changes.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { buffer in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            let words = buffer.count / 8
            for index in 0..<words {
                hash = (hash ^ UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))) &* 0x100_0000_01B3
                hash ^= hash >> 29
            }
            for index in (words * 8)..<buffer.count { hash = (hash ^ UInt64(buffer[index])) &* 0x100_0000_01B3 }
            return hash ^ UInt64(buffer.count)
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ response: StoredHTTPResponse) {
        append(text: response.url.description)
        append(number: Int64(response.status))
        append(number: response.requestTime)
        append(number: response.responseTime)
        append(response.selection)
        append(number: Int64(response.fields.count))
        for field in response.fields {
            append(text: field.name.rawName)
            append(content: field.withUnsafeBytesOfValue { Array($0) })
        }
        append(content: response.body)
    }

    fileprivate mutating func append(_ selection: VarySelection) {
        append(number: Int64(selection.fields.count))
        for field in selection.fields {
            append(text: field.name)
            bytes.append(field.value == nil ? 0 : 1)
            append(text: field.value ?? "")
        }
    }
}

extension ByteReader {
    fileprivate mutating func response() -> StoredHTTPResponse? {
        guard let url = text().flatMap({ HTTPURL($0) }), let status = number(), (200...999).contains(status), let requestTime = number(),
            let responseTime = number(), let selection = selection(),
            let lines = list(atMost: StoredHTTPResponse.maximumFieldCount, { $0.field() }), let body = content()
        else { return nil }
        return StoredHTTPResponse(
            url: url, status: Int(status), fields: HTTPFields(lines), body: body, requestTime: requestTime, responseTime: responseTime,
            selection: selection)
    }

    private mutating func field() -> HTTPField? {
        guard let name = text().flatMap({ HTTPField.Name($0) }), let value = content() else { return nil }
        return HTTPField(name: name, value: value)
    }

    fileprivate mutating func selection() -> VarySelection? {
        list { reader in
            guard let name = reader.text(), let flag = reader.byte(), flag <= 1, let value = reader.text() else { return nil }
            return VarySelection.Field(name: name, value: flag == 1 ? value : nil)
        }.map { VarySelection(fields: $0) }
    }
}
