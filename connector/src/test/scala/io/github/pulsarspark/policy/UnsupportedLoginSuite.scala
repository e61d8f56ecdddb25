package io.github.pulsarspark.policy

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

final class UnsupportedLoginSuite extends UnitSuite {

  private val Package = "org.apache.pulsar.client.impl.auth"

  private def refused(option: String, plugin: String) = {
    val e = intercept[IllegalArgumentException with PulsarError](UnsupportedLogin.check(option, plugin))
    assertEquals((e.condition, e.parameters("option")), ("PULSAR_LOGIN_UNSUPPORTED", option))
    e.parameters("login")
  }

  test("Kerberos and Athenz, refused by name") {
    assertEquals(refused("pulsar.client.authPluginClassName", s"$Package.AuthenticationSasl"), "Kerberos")
    assertEquals(refused("admin.auth.pluginClassName", s"$Package.AuthenticationAthenz"), "Athenz")
  }

  test("another plug-in, and one of the same short name, accepted") {
    Seq(s"$Package.AuthenticationToken", "com.example.AuthenticationSasl").foreach(UnsupportedLogin.check("x", _))
  }
}
