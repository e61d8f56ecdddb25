package io.github.pulsarspark.options.registry

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

/** Options of streamnative/pulsar-spark as [[Aliases]] translates them. */
class AliasesSuite extends UnitSuite {

  private val required = Map("service.url" -> "pulsar://localhost:6650", "topic" -> "t")
  private val tls      = Map("service.url" -> "pulsar+ssl://localhost:6651")
  private val fields   = Map(
    "pulsar.client." -> Seq(
      "authParams",
      "authPluginClassName",
      "operationTimeoutMs",
      "tlsAllowInsecureConnection",
      "tlsHostnameVerificationEnable",
      "tlsTrustCertsFilePath",
      "useTls"
    ),
    "pulsar.producer." -> Seq("batchingMaxMessages")
  ).withDefaultValue(Nil)

  private def check(scope: Scope, options: (String, String)*): CheckedOptions =
    CheckedOptions(required ++ options, scope, fields)

  private def refused(scope: Scope, options: (String, String)*): RuntimeException with PulsarError =
    intercept[RuntimeException with PulsarError](check(scope, options: _*))

  private val read  = Scope.BatchRead
  private val write = Scope.StreamWrite

  /** Alias, value, scope, what it sets. */
  private val accepted: Seq[(String, String, Scope, Option[(String, String)])] = Seq(
    ("pulsar.client.operationTimeoutMs", "5000", read, Some("operationTimeoutMs" -> "5000")),
    ("pulsar.client.lookupTimeoutMs", " 7 ", write, Some("operationTimeoutMs" -> "7")),
    ("pulsar.client.tlsTrustCertsFilePath", "/ca.pem", read, Some("tls.trustCertsFile" -> "/ca.pem")),
    ("pulsar.client.tlsAllowInsecureConnection", "true", read, Some("tls.insecureTrustAnyCertificate" -> "true")),
    ("pulsar.client.tlsHostnameVerificationEnable", "TRUE", read,
      Some("tls.insecureSkipHostnameVerification" -> "false")),
    ("pulsar.client.tlsHostnameVerificationEnable", "false", read,
      Some("tls.insecureSkipHostnameVerification" -> "true")),
    ("pulsar.client.useTls", "false", read, None),
    ("pulsar.reader.subscriptionName", "mine", read, Some("subscriptionPrefix" -> "mine")),
    ("pulsar.reader.subscriptionRolePrefix", "mine", read, Some("subscriptionPrefix" -> "mine")),
    ("pulsar.reader.readCompacted", "true", read, Some("readCompacted" -> "true")),
    ("pulsar.reader.cryptoFailureAction", "FAIL", read, None),
    ("pulsar.producer.sendTimeoutMs", "9", write, Some("sendTimeoutMs" -> "9")),
    ("pulsar.producer.blockIfQueueFull", "true", write, None),
    ("allowDifferentTopicSchemas", "true", read, Some("schemaMode" -> "raw")),
    ("allowDifferentTopicSchemas", "false", read, None),
    ("waitingForNonExistedTopic", "false", read, None),
    ("waitingForNonExistedTopic", "true", Scope.StreamRead, Some("allowMissingTopics" -> "true")),
    ("predefinedSubscription", "mine", Scope.StreamRead, Some("progressSubscription" -> "mine"))
  )

  accepted.foreach { case (alias, value, scope, result) =>
    test(s"$alias=$value is translated, in any case of letters") {
      for (name <- Seq(alias, alias.toLowerCase, alias.toUpperCase)) {
        val options = check(scope, name -> value)
        result.foreach { case (target, expected) => assertEquals(options.explicit(target), Some(expected)) }
        assert(options.translations.exists(_.startsWith(s"`$alias`")), options.translations)
        if (result.isEmpty) assertEquals(options.translations, Seq(s"`$alias` without effect"))
        fields.keys.foreach(prefix => assertEquals(options.clientSettings(prefix), Map.empty[String, String]))
      }
    }
  }

  /** Alias, value, scope, condition, words of the text. */
  private val rejected: Seq[(String, String, Scope, String, Seq[String])] = Seq(
    ("pulsar.client.operationTimeoutMs", "0", read, "PULSAR_OPTION_ALIAS",
      Seq("at least 1 ms and at most 36500 days", "not as `0`", "Set `operationTimeoutMs` instead.")),
    ("pulsar.client.lookupTimeoutMs", "-1", read, "PULSAR_OPTION_ALIAS", Seq("`-1`", "`operationTimeoutMs`")),
    ("pulsar.client.tlsTrustCertsFilePath", " ", read, "PULSAR_OPTION_ALIAS", Seq("`tls.trustCertsFile`")),
    ("pulsar.client.tlsAllowInsecureConnection", "yes", read, "PULSAR_OPTION_ALIAS",
      Seq("only as true or false, not as `yes`", "`tls.insecureTrustAnyCertificate`")),
    ("pulsar.client.tlsHostnameVerificationEnable", "yes", read, "PULSAR_OPTION_ALIAS",
      Seq("only as true or false, not as `yes`", "`tls.insecureSkipHostnameVerification`")),
    ("pulsar.client.useTls", "true", read, "PULSAR_OPTION_ALIAS", Seq("`service.url`", "pulsar+ssl://")),
    ("pulsar.client.useTls", "no", read, "PULSAR_OPTION_ALIAS", Seq("true or false, not as `no`")),
    ("pulsar.reader.subscriptionName", "", read, "PULSAR_OPTION_ALIAS", Seq("`subscriptionPrefix`")),
    ("pulsar.reader.subscriptionRolePrefix", "", read, "PULSAR_OPTION_ALIAS", Seq("`subscriptionPrefix`")),
    ("pulsar.reader.readCompacted", "1", read, "PULSAR_OPTION_ALIAS", Seq("`1`", "`readCompacted`")),
    ("pulsar.reader.cryptoFailureAction", "CONSUME", read, "PULSAR_OPTION_UNSUPPORTED", Seq("fails the query")),
    ("pulsar.reader.keyHashRanges", "[]", read, "PULSAR_OPTION_UNSUPPORTED", Seq("all keys")),
    ("pulsar.reader.readerListener", "x", read, "PULSAR_OPTION_UNSUPPORTED", Seq("returns rows")),
    ("pulsar.producer.sendTimeoutMs", "0", write, "PULSAR_OPTION_ALIAS", Seq("at least 1", "`sendTimeoutMs`")),
    ("pulsar.producer.blockIfQueueFull", "false", write, "PULSAR_OPTION_ALIAS",
      Seq("only as true, not as `false`", "Remove the option")),
    ("allowDifferentTopicSchemas", "maybe", read, "PULSAR_OPTION_ALIAS", Seq("true or false", "`schemaMode`")),
    ("predefinedSubscription", " ", Scope.StreamRead, "PULSAR_OPTION_ALIAS", Seq("`progressSubscription`")),
    ("predefinedSubscription", "mine", read, "PULSAR_OPTION_WRONG_MODE", Seq("batch read")),
    ("pulsar.reader.readCompacted", "true", write, "PULSAR_OPTION_WRONG_MODE", Seq("streaming write")),
    ("pulsar.producer.blockIfQueueFull", "true", read, "PULSAR_OPTION_WRONG_MODE", Seq("batch read")),
    ("allowDifferentTopicSchemas", "true", write, "PULSAR_OPTION_WRONG_MODE", Seq("streaming write"))
  )

  rejected.foreach { case (alias, value, scope, condition, words) =>
    test(s"$alias=$value in a ${scope.words} is an error that names both options") {
      val error = refused(scope, alias -> value)
      assertEquals(error.condition, condition)
      (s"`$alias`" +: words).foreach(w => assert(error.getMessage.contains(w), error.getMessage))
      assert(!error.getMessage.contains("nearest name"), error.getMessage)
    }
  }

  test("every alias of the table is proved here, and every target exists") {
    val proved = (accepted.map(_._1) ++ rejected.map(_._1)).toSet
    assertEquals(OptionRegistry.aliases.map(_.name).filterNot(proved), Nil)
    assertEquals(OptionRegistry.aliases.flatMap(_.target).filter(OptionRegistry.find(_).isEmpty), Nil)
    assertEquals(OptionRegistry.aliases.map(_.name.toLowerCase).filter(OptionRegistry.managed.contains), Nil)
    val scopes =
      for (a <- OptionRegistry.aliases; t <- a.target; d <- OptionRegistry.find(t)) yield a.scopes == d.scopes
    assert(scopes.forall(identity))
  }

  test("useTls=true belongs to an address with TLS") {
    assertEquals(check(read, tls.toSeq :+ ("pulsar.client.useTls" -> "true"): _*).translations,
      Seq("`pulsar.client.useTls` without effect"))
  }

  test("names of one option may be set together to the same value only") {
    val alias = "pulsar.client.operationTimeoutMs"
    assertEquals(check(read, alias -> "5", "OperationTimeoutMs" -> " +5").duration("operationTimeoutMs"), 5L)
    assertEquals(check(read, alias -> "5", "pulsar.client.lookupTimeoutMs" -> "5").duration("operationTimeoutMs"),
      5L)
    for (other <- Seq("operationTimeoutMs", "pulsar.client.lookupTimeoutMs")) {
      val error = refused(read, alias -> "5", other -> "6")
      assertEquals(error.condition, "PULSAR_OPTION_ALIAS_CONFLICT")
      Seq(s"`$alias`", s"`$other`", "Set only `operationTimeoutMs`").foreach(w => assert(error.getMessage.contains(w)))
    }
    val tlsNames = Seq("pulsar.client.tlsHostnameVerificationEnable" -> "true",
      "tls.insecureSkipHostnameVerification" -> "true")
    assertEquals(refused(read, tlsNames: _*).condition, "PULSAR_OPTION_ALIAS_CONFLICT")
  }

  test("settings of the admin service repeat those of the client") {
    def passes(options: (String, String)*) = check(read, options: _*).translations.filter(_.contains("admin"))
    val auth                               = "authParams" -> "token:c4n4ry"
    assertEquals(
      passes("pulsar.client.authPluginClassName" -> "x", "pulsar.client.authParams" -> auth._2,
        "pulsar.admin.AUTHPARAMS"                -> auth._2),
      Seq("`pulsar.admin.authParams` as `pulsar.client.authParams`")
    )
    assertEquals(passes("tls.trustCertsFile" -> "/ca", "pulsar.admin.tlsTrustCertsFilePath" -> "/ca"),
      Seq("`pulsar.admin.tlsTrustCertsFilePath` as `tls.trustCertsFile`"))
    assertEquals(passes("pulsar.admin.tlsAllowInsecureConnection" -> "false").size, 1)
    assertEquals(passes("pulsar.admin.tlsHostnameVerificationEnable" -> "true").size, 1)
    assertEquals(passes("pulsar.admin.useTls" -> "false").size, 1)
    for (
      options <- Seq(
        Seq("pulsar.admin.tlsTrustCertsFilePath"         -> "/ca"),
        Seq("pulsar.admin.tlsHostnameVerificationEnable" -> "false"),
        Seq("pulsar.admin.useTls"                        -> "true"),
        Seq("pulsar.admin.operationTimeoutMs"            -> "0")
      )
    ) {
      val error = refused(read, options: _*)
      assertEquals(error.condition, "PULSAR_OPTION_ADMIN")
      assert(!error.getMessage.contains("c4n4ry"), error.getMessage)
    }
    val plugin = "authPluginClassName" -> "x.Plugin"
    val both   = check(
      read,
      "pulsar.client.authPluginClassName" -> plugin._2,
      "pulsar.client.authParams"          -> "token:b",
      "pulsar.admin.authParams"           -> auth._2,
      "admin.url"                         -> "http://h:1"
    )
    assertEquals(both.explicit("admin.auth.pluginClassName"), Some(plugin._2))
    assertEquals(both.explicit("admin.auth.params"), Some(auth._2))
    assertEquals(both.clientSettings("pulsar.client.")("authParams"), "token:b")
    assertEquals(both.translations, Seq("`pulsar.admin.authParams` as `admin.auth.params`"))
    val alone = refused(read, "pulsar.admin.authParams" -> auth._2)
    assertEquals(alone.condition, "PULSAR_OPTION_INCOMPLETE")
    val twice = refused(read, "pulsar.admin.authParams" -> auth._2, "admin.auth.params" -> "token:d")
    assertEquals(twice.condition, "PULSAR_OPTION_ALIAS_CONFLICT")
    Seq(alone, twice).foreach(e => assert(!e.getMessage.contains("c4n4ry"), e.getMessage))
    val unknown = refused(read, "pulsar.admin.authParam" -> "c4n4ry")
    assertEquals(unknown.condition, "PULSAR_OPTION_UNKNOWN")
    assert(unknown.getMessage.contains("the nearest name is `pulsar.admin.authParams`"), unknown.getMessage)
  }

  test("an option of the query replaces the same one of the session, whichever names they have") {
    val names = Seq("operationTimeoutMs", "pulsar.client.operationTimeoutMs")
    for (ofSession <- names; ofQuery <- names) {
      val session = Map(ofSession -> "5", "pulsar.producer.blockIfQueueFull" -> "true", "maxBytesPerTrigger" -> "7")
      val raw     = new RawOptions(session ++ required + (ofQuery -> "6"), fields, session)
      assertEquals(raw.check(Scope.BatchWrite).duration("operationTimeoutMs"), 6L)
    }
  }

  test("a query logs one warning with what was translated, without free values") {
    val lines   = Seq.newBuilder[String]
    val warning = TranslationWarning(lines += _)
    val options = required ++ Map("pulsar.client.tlsTrustCertsFilePath" -> "/c4n4ry",
      "allowDifferentTopicSchemas" -> "true")
    def raw = new RawOptions(options, fields, warning = warning)
    raw.check(Scope.BatchRead, Scope.StreamRead)
    assertEquals(lines.result(), Nil)
    raw.check(Scope.BatchRead)
    raw.check(Scope.BatchRead)
    assertEquals(
      lines.result(),
      Seq("Options of streamnative/pulsar-spark are used: `allowDifferentTopicSchemas` as `schemaMode=raw`, " +
        "`pulsar.client.tlsTrustCertsFilePath` as `tls.trustCertsFile`. See docs/use/options.md.")
    )
  }
}
