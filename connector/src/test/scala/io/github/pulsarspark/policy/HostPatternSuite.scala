package io.github.pulsarspark.policy

import io.github.pulsarspark.UnitSuite

final class HostPatternSuite extends UnitSuite {

  private def covers(pattern: String, host: String, port: Int) =
    HostPattern.parse(pattern).getOrElse(fail(pattern)).covers(host, CalledPort.At(port))

  test("a name in any case, with or without its last dot, at its port") {
    assert(covers("broker.example:6650", "Broker.Example.", 6650))
    assert(!covers("broker.example:6650", "broker.example", 6651))
    assert(!covers("broker.example:6650", "xbroker.example", 6650))
    assert(!covers("broker.example:6650", "brokerxexample", 6650))
    assert(covers("broker.example:*", "broker.example", 1))
  }

  test("a star stands for any text of a name") {
    assert(covers("*.pulsar.example:6650", "a.b.pulsar.example", 6650))
    assert(!covers("*.pulsar.example:6650", "pulsar.example", 6650))
    assert(!covers("*.pulsar.example:6650", "a.pulsar.example.evil", 6650))
    assert(covers("broker-*.x:1", "broker-12.x", 1))
  }

  test("a pattern of digits stands for addresses alone") {
    assert(covers("10.42.*:6650", "10.42.7.1", 6650))
    assert(!covers("10.42.*:6650", "10.42.evil.example", 6650))
    assert(!covers("10.*:6650", "10.0.0.1.evil", 6650))
    assert(!covers("127.0.0.1:6650", "2130706433", 6650))
  }

  test("IPv6 in every form, and an IPv4 address in it") {
    assert(covers("[::1]:6650", "0:0:0:0:0:0:0:1", 6650))
    assert(covers("[2001:DB8::1]:6650", "[2001:db8:0::1]", 6650))
    assert(covers("127.0.0.1:6650", "::ffff:127.0.0.1", 6650))
    assert(!covers("[::1]:6650", "::2", 6650))
  }

  test("where the port was checked before, the name counts") {
    val pattern = HostPattern.parse("a.example:1").get
    assert(pattern.covers("a.example", CalledPort.Checked) && !pattern.covers("b.example", CalledPort.Checked))
  }

  test("where nobody says the port, the name needs all of them") {
    assert(!HostPattern.parse("a.example:1").get.covers("a.example", CalledPort.Unknown))
    val pattern = HostPattern.parse("a.example:*").get
    assert(pattern.covers("a.example", CalledPort.Unknown) && !pattern.covers("b.example", CalledPort.Unknown))
  }

  test("what is no host and port") {
    Seq("", "a", ":1", "a:", "a:0", "a:65536", "a:x", "a:-1", "::1:6650", "a b:1", "http://a:1", "a/b:1").foreach(
      text =>
        assertEquals(HostPattern.parse(text), None, text)
    )
  }
}
