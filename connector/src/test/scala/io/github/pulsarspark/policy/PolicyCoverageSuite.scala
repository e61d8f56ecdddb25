package io.github.pulsarspark.policy

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.registry.OptionRegistry
import io.github.pulsarspark.pulsar.connection.ClientSettings

/** Finds new options that reach files, hosts, classes or storage, and no check knows. */
final class PolicyCoverageSuite extends UnitSuite {

  /** Options by the setting that decides about them. */
  private val known: Map[String, Seq[String]] = Map(
    "files" -> Seq(
      "auth.tokenFile",
      "auth.tls.certFile",
      "auth.tls.keyFile",
      "tls.trustCertsFile",
      "bookie.tls.trustCertsFile",
      "bookie.tls.certFile",
      "bookie.tls.keyFile",
      "encryption.privateKeyFile",
      "encryption.publicKeyFile",
      "protobuf.descriptorFile",
      "pulsar.client.tlsCertificateFilePath",
      "pulsar.client.tlsKeyFilePath",
      "pulsar.client.tlsKeyStorePath",
      "pulsar.client.tlsTrustStorePath",
      "pulsar.client.tlsTrustCertsFilePath",
      "pulsar.client.authParams",
      "admin.auth.params",
      "pulsar.client.sslFactoryPluginParams",
      "auth.oauth2.credentialsUrl"
    ),
    "hosts" -> Seq(
      "service.url",
      "admin.url",
      "auth.oauth2.issuerUrl",
      "bookieAddresses",
      "pulsar.client.proxyServiceUrl",
      "pulsar.client.socks5ProxyAddress",
      "pulsar.client.dnsServerAddresses"
    ),
    "classes" -> Seq(
      "admin.auth.pluginClassName",
      "pulsar.client.authPluginClassName",
      "pulsar.client.sslFactoryPlugin",
      "pulsar.reader.cryptoKeyReader",
      "encryption.keyReader",
      "bookkeeper.clientAuthProviderFactoryClass"
    ),
    "storage"  -> Seq("offload.location", "schemaTrackingLocation", "checkpoint"),
    "insecure" -> Seq(
      "tls.insecureSkipHostnameVerification",
      "tls.insecureTrustAnyCertificate",
      "bookie.tls.insecureSkipHostnameVerification",
      "pulsar.client.tlsAllowInsecureConnection"
    )
  )

  /** Names that only look so: what users see of them is bound to this machine, or is no place. */
  private val harmless = Set(
    "pulsar.client.dnsLookupBindAddress",
    "pulsar.client.listenerName",
    "pulsar.client.numListenerThreads",
    "pulsar.client.tlsHostnameVerificationEnable",
    "pulsar.client.serviceUrl",
    "pulsar.client.serviceUrlQuarantineInitDurationMs",
    "pulsar.client.serviceUrlQuarantineMaxDurationMs",
    "pulsar.client.sslProvider",
    "pulsar.client.useKeyStoreTls",
    "pulsar.client.authParamMap",
    "pulsar.client.tlsKeyStorePassword",
    "pulsar.client.tlsKeyStoreType",
    "pulsar.client.tlsTrustStorePassword",
    "pulsar.client.tlsTrustStoreType",
    "pulsar.client.proxyProtocol",
    "pulsar.client.socks5ProxyPassword",
    "pulsar.client.socks5ProxyUsername",
    "pulsar.reader.readerListener",
    "pulsar.reader.readerDecryptFailListener"
  )

  private val suspicious =
    "(?i)file|url|path|address|location|class|plugin|insecure|params|proxy|store|keyReader|checkpoint|host|provider|listener|folder|dir$"
      .r

  test("every option that may reach something is known to a check") {
    val names = OptionRegistry.definitions.map(_.key) ++
      OptionRegistry.prefixes.flatMap(p =>
        (if (p.fields.isEmpty) ClientSettings.fields(p.prefix) else p.fields).map(p.prefix + _)
      )
    val found = names.filter(name => suspicious.findFirstIn(name).isDefined).toSet -- harmless
    assertEquals((found -- known.values.flatten).toSeq.sorted, Nil)
    assertEquals((known.values.flatten.toSet -- names).toSeq.sorted, Nil)
  }
}
