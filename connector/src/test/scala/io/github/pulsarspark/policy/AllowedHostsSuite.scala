package io.github.pulsarspark.policy

import java.net.InetAddress

import io.github.pulsarspark.UnitSuite

final class AllowedHostsSuite extends UnitSuite with PolicyRules {
  import CalledPort._

  private val policy = shared("hosts" -> "broker.example:6650, *.pulsar.example:*, issuer.example:443, 127.0.0.1:6650")

  private def check(host: String, port: Int) = AllowedHosts.check(policy, "x.option", host, At(port))
  private def url(text: String)              = AllowedHosts.checkUrl(policy, "x.option", text)

  private def leads(host: String, address: String, port: CalledPort = At(6650)) =
    AllowedHosts.checkAddress(policy, "x.option",
      host, InetAddress.getByName(address), port)

  test("a host and port of the list, no other, and none with an empty list") {
    check("broker.example", 6650)
    check("a.pulsar.example", 1)
    assertEquals(refused("hosts")(check("broker.example", 6651)), "a connection to broker.example:6651")
    refused("hosts")(check("evil", 6650))
    refused("hosts")(AllowedHosts.check(shared(), "x.option", "broker.example", At(6650)))
  }

  test("the host of a URL at its port or that of its scheme") {
    url("https://issuer.example")
    url("https://issuer.example:443/realm?x=1")
    Seq(
      "http://issuer.example",
      "https://issuer.example:8443",
      "https://issuer.example@evil",
      "https://evil\\@issuer.example",
      "https://",
      "issuer.example:443",
      "file:///issuer.example",
      "https://a_b.evil",
      ""
    ).foreach(text =>
      refused("hosts")(url(text))
    )
  }

  test("a name that a star covers does not lead to this machine or its link") {
    leads("a.pulsar.example", "10.0.0.1")
    Seq("127.0.0.2", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1").foreach(address =>
      refused("hosts")(leads("a.pulsar.example", address))
    )
  }

  test("a name without a star leads where its operator wants, and an address that is listed is that of any name") {
    leads("broker.example", "127.0.0.2")
    leads("a.pulsar.example", "127.0.0.1")
    refused("hosts")(leads("a.pulsar.example", "127.0.0.1", At(6651)))
  }

  test("a host of a redirect without a port is listed with all ports, and so is an address of this machine") {
    def redirect(host: String) = AllowedHosts.check(policy, "x.option", host, Unknown)
    redirect("a.pulsar.example")
    assertEquals(refused("hosts")(redirect("broker.example")), "a connection to broker.example:*")
    refused("hosts")(leads("a.pulsar.example", "127.0.0.1", Unknown))
  }
}
