package io.github.pulsarspark.policy

import io.github.pulsarspark.common.ShadedClassNames
import io.github.pulsarspark.errors.Conditions

/** Logins of Pulsar that do not work from the connector's jar. Their plug-ins are artifacts of their own
  * (`pulsar-client-auth-sasl`, `pulsar-client-auth-athenz`), which implement the interface of a Pulsar client by its
  * original name.
  */
private[pulsarspark] object UnsupportedLogin {

  private val Known = Map(
    ShadedClassNames("org.apache.pulsar.client.impl.auth.AuthenticationSasl")   -> "Kerberos",
    ShadedClassNames("org.apache.pulsar.client.impl.auth.AuthenticationAthenz") -> "Athenz"
  )

  /** Fails if `plugin`, the value of `option`, is the class of such a login. */
  def check(option: String, plugin: String): Unit =
    Known.get(ShadedClassNames(plugin.trim)).foreach { login =>
      throw Conditions.LoginUnsupported(option = option, plugin = plugin, login = login).exception
    }
}
