package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, Secret}
import io.github.pulsarspark.policy.UnsupportedLogin

/** Authentication method of a client. */
sealed trait Authentication extends Serializable

object Authentication {
  case object None                                         extends Authentication
  final case class Token(token: Secret)                    extends Authentication
  final case class TokenFile(path: String)                 extends Authentication
  final case class Basic(userId: String, password: Secret) extends Authentication
  final case class Tls(certFile: String, keyFile: String)  extends Authentication
  final case class OAuth2(issuerUrl: String, credentialsUrl: Secret, audience: String, scope: String)
      extends Authentication

  /** A plug-in of the Pulsar client by class name. */
  final case class Plugin(className: String, parameters: Secret) extends Authentication
}

/** The settings of a Pulsar client; the key of the client pool: equal settings share a client. Its text has no secret.
  *
  * @param adminAuthentication
  *   for the admin service, where it differs
  * @param settings
  *   settings of the client by its own names; all count as secret, because plug-ins put passwords into several
  */
private[pulsarspark] final case class ClientOptions(
    serviceUrl: String,
    adminUrl: Option[String],
    operationTimeout: FiniteDuration,
    authentication: Authentication,
    adminAuthentication: Option[Authentication],
    trustCertsFile: Option[String],
    skipHostnameVerification: Boolean,
    trustAnyCertificate: Boolean,
    settings: Map[String, Secret]
)

private[pulsarspark] object ClientOptions {

  def apply(options: CheckedOptions): ClientOptions = {
    val settings = options.clientSettings("pulsar.client.")
    if (settings.contains("proxyServiceUrl") && !isEncrypted(options("service.url")))
      throw Conditions.OptionWithoutEffect(
        option = "pulsar.client.proxyServiceUrl",
        reason = "connections go through the proxy only with TLS",
        instead = "Set a `service.url` that begins with pulsar+ssl:// or https://"
      ).exception
    ClientOptions(
      serviceUrl = options("service.url"),
      // lookups over HTTP use the same service
      adminUrl = options.get("admin.url").orElse(options.get("service.url").filter(_.startsWith("http"))),
      operationTimeout = options.duration("operationTimeoutMs").millis,
      authentication = authentication(options, settings),
      adminAuthentication = plugin(
        "admin.auth.pluginClassName",
        options.get("admin.auth.pluginClassName"),
        options.get("admin.auth.params")
      ),
      trustCertsFile = options.get("tls.trustCertsFile"),
      skipHostnameVerification = options.boolean("tls.insecureSkipHostnameVerification"),
      trustAnyCertificate = options.boolean("tls.insecureTrustAnyCertificate"),
      settings = (settings - "authPluginClassName" - "authParams").view.mapValues(Secret(_)).toMap
    )
  }

  /** True if connections to the service use TLS. */
  def isEncrypted(url: String): Boolean = url.startsWith("pulsar+ssl://") || url.startsWith("https://")

  private def authentication(options: CheckedOptions, settings: Map[String, String]): Authentication =
    Seq(
      options.get("auth.token").map(t => Authentication.Token(Secret(t))),
      options.get("auth.tokenFile").map(Authentication.TokenFile(_)),
      options.get("auth.basic.userId").map(u => Authentication.Basic(u, Secret(options("auth.basic.password")))),
      options.get("auth.tls.certFile").map(c => Authentication.Tls(c, options("auth.tls.keyFile"))),
      options.get("auth.oauth2.issuerUrl").map { issuer =>
        Authentication.OAuth2(
          issuer,
          Secret(options("auth.oauth2.credentialsUrl")),
          options.get("auth.oauth2.audience").getOrElse(""),
          options.get("auth.oauth2.scope").getOrElse("")
        )
      },
      plugin("pulsar.client.authPluginClassName", settings.get("authPluginClassName"), settings.get("authParams"))
    ).flatten.headOption.getOrElse(Authentication.None)
  private def plugin(option: String, className: Option[String], parameters: Option[String]) = className.map { name =>
    UnsupportedLogin.check(option, name)
    Authentication.Plugin(name, Secret(parameters.getOrElse("")))
  }
}
