extension Scenario {
    /// A hash of its text, the same in every build and process.
    package var digest: UInt64 {
        var digest = RunDigest()
        for byte in text.utf8 { digest.mix(UInt64(byte)) }
        return digest.value
    }
}
