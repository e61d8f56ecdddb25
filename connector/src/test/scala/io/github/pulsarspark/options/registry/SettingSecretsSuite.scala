package io.github.pulsarspark.options.registry

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

/** Refusal of settings of Spark that show a secret. */
class SettingSecretsSuite extends UnitSuite {

  private val prefix = "spark.datasource.pulsar."

  private def check(started: Map[String, String], options: (String, String)*): Unit =
    SettingSecrets.check(started.get, prefix, options.toMap)

  /** Settings that Spark was started with. */
  private def started(options: (String, String)*): Map[String, String] =
    options.map { case (key, value) => prefix + key -> value }.toMap

  private def refused(conf: Map[String, String], options: (String, String)*): String = {
    val error = intercept[PulsarInputException with PulsarError](check(conf, options: _*))
    assertEquals(error.condition, "PULSAR_SETTING_SECRET")
    assert(!error.getMessage.contains("hunter2"))
    error.getMessage
  }

  test("secrets that are set after Spark started, or to another value, are refused") {
    for (key <- Seq("auth.token", "AUTH.Token", "auth.basic.password", "pulsar.client.tlsTrustStorePassword")) {
      val set = key -> "hunter2"
      assert(refused(started(), set).contains(s"`$prefix$key`"))
      refused(started(key -> "another"), set)
      check(started(set), set)
    }
  }

  test("secrets under names that Spark does not hide are refused, also those of its start") {
    val all = Seq("pulsar.client.authParams", "PULSAR.client.AUTHPARAMS", "admin.auth.params",
      "pulsar.client.sslFactoryPluginParams")
    for (set <- all.map(_ -> "hunter2") :+ ("auth.oauth2.credentialsUrl" -> "data:,hunter2"))
      refused(started(set), set)
  }

  test("names that the job's own pattern of Spark does not hide are refused") {
    val set = "auth.token" -> "hunter2"
    refused(started(set) + ("spark.redaction.regex" -> "password"), set)
  }

  test("a value that only looks like a file is refused: a token is what it is, and parameters at a URL are shown") {
    refused(started(), "auth.token"               -> "file:hunter2")
    refused(started(), "auth.basic.password"      -> "https://hunter2")
    refused(started(), "pulsar.client.authParams" -> "https://me:hunter2@issuer")
  }

  test("files, and options that hold no secret") {
    check(
      started(),
      "pulsar.client.authParams"   -> "file:///etc/token",
      "auth.tokenFile"             -> "/etc/token",
      "auth.oauth2.credentialsUrl" -> "file:///etc/key.json",
      "auth.basic.userId"          -> "job",
      "service.url"                -> "pulsar://a"
    )
  }
}
