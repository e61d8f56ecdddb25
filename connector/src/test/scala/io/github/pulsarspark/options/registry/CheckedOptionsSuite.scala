package io.github.pulsarspark.options.registry

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.{Authentication, OnDecodeError, PrivateKeys, ReadOptions, SchemaMode, TopicSelection}

class CheckedOptionsSuite extends UnitSuite {

  private val required = Map("service.url" -> "pulsar://localhost:6650", "topic" -> "t")
  private val fields   =
    (prefix: String) =>
      if (prefix == "pulsar.client.") Seq("numIoThreads", "listenerName", "serviceUrl") else Seq("batchingMaxMessages")

  private def check(options: (String, String)*): CheckedOptions =
    CheckedOptions(required ++ options, Scope.BatchRead, fields)

  /** Options, scope, condition, and words the text must have. */
  private val refused: Seq[(String, Map[String, String], Scope, String, Seq[String])] = Seq(
    (
      "misspelt",
      required + ("startingOffset" -> "x"),
      Scope.BatchRead,
      "PULSAR_OPTION_UNKNOWN",
      Seq("`startingOffset`", "`startingOffsets`")
    ),
    (
      "of Spark's Kafka source, with the same meaning here",
      required + ("MaxOffsetsPerTrigger" -> "1"),
      Scope.StreamRead,
      "PULSAR_OPTION_UNKNOWN",
      Seq("`MaxOffsetsPerTrigger`; the nearest name is `maxMessagesPerTrigger`.")
    ),
    ("far from any name", required + ("zzz" -> "x"), Scope.BatchRead, "PULSAR_OPTION_UNKNOWN",
      Seq("There is no option `zzz`.")),
    (
      "of streams' mode",
      required + ("endingOffsets" -> "latest"),
      Scope.StreamRead,
      "PULSAR_OPTION_WRONG_MODE",
      Seq("streaming read", "batch read")
    ),
    ("of writes", required + ("schemaType" -> "avro"), Scope.BatchRead, "PULSAR_OPTION_WRONG_MODE",
      Seq("batch write, streaming write")),
    ("no url", required - "service.url", Scope.BatchRead, "PULSAR_OPTION_MISSING",
      Seq("service.url", "pulsar://localhost:6650")),
    (
      "wrong url",
      required + ("service.url" -> "localhost"),
      Scope.BatchRead,
      "PULSAR_OPTION_INVALID",
      Seq("`localhost`", "pulsar://host:port")
    ),
    ("no topic", required - "topic", Scope.BatchRead, "PULSAR_TOPIC_OPTION", Seq("none is set")),
    ("two topics", required + ("topics" -> "a,b"), Scope.BatchRead, "PULSAR_TOPIC_OPTION",
      Seq("`topic` and `topics` are set")),
    (
      "a list as one topic",
      required + ("topic" -> "a,b"),
      Scope.BatchWrite,
      "PULSAR_OPTION_INVALID",
      Seq("`topic`", "`a,b`", "`topics`")
    ),
    ("no name in a list", required - "topic" + ("topics" -> " , "), Scope.BatchRead, "PULSAR_OPTION_INVALID",
      Seq("`topics`", "` , `")),
    ("not a boolean", required + ("failOnDataLoss" -> "maybe"), Scope.BatchRead, "PULSAR_OPTION_INVALID",
      Seq("true or false")),
    ("not a number", required + ("pollTimeoutMs" -> "soon"), Scope.BatchRead, "PULSAR_OPTION_INVALID",
      Seq("at least 1 ms")),
    ("too small", required + ("pollTimeoutMs"    -> "0"), Scope.BatchRead, "PULSAR_OPTION_INVALID", Seq("at least 1")),
    ("not a size", required + ("readAheadBytes"  -> "lots"), Scope.BatchRead, "PULSAR_OPTION_INVALID", Seq("`16m`")),
    ("not in the list", required + ("schemaType" -> "xml"), Scope.BatchWrite, "PULSAR_OPTION_INVALID",
      Seq("auto, avro, json")),
    ("not a pattern", required - "topic" + ("topicsPattern" -> "["), Scope.BatchRead, "PULSAR_OPTION_INVALID",
      Seq("regular expression")),
    (
      "offsets and time",
      required ++ Seq("startingOffsets" -> "earliest", "startingTime" -> "1"),
      Scope.BatchRead,
      "PULSAR_OPTION_CONFLICT",
      Seq("startingTime")
    ),
    (
      "two logins",
      required ++ Seq("auth.token" -> "s3cret", "auth.tokenFile" -> "/t"),
      Scope.BatchRead,
      "PULSAR_OPTION_CONFLICT",
      Seq("auth.tokenFile")
    ),
    ("half a login", required + ("auth.basic.userId" -> "u"), Scope.BatchRead, "PULSAR_OPTION_INCOMPLETE",
      Seq("auth.basic.password")),
    (
      "TLS to bookies without whom to trust",
      required + ("bookie.tls.insecureSkipHostnameVerification" -> "true"),
      Scope.BatchRead,
      "PULSAR_OPTION_INCOMPLETE",
      Seq("bookie.tls.trustCertsFile")
    ),
    ("managed", required + ("pulsar.client.serviceUrl" -> "x"), Scope.BatchRead, "PULSAR_OPTION_MANAGED",
      Seq("service.url")),
    (
      "without effect",
      required + ("pulsar.reader.PoolMessages" -> "true"),
      Scope.BatchRead,
      "PULSAR_OPTION_WITHOUT_EFFECT",
      Seq("`pulsar.reader.PoolMessages`", "a read returns rows", "Remove it.")
    ),
    (
      "no client field",
      required + ("pulsar.client.numIoThread" -> "1"),
      Scope.BatchRead,
      "PULSAR_OPTION_UNKNOWN",
      Seq("`pulsar.client.numIoThreads`")
    ),
    (
      "too many threads",
      required + ("pulsar.client.NumIoThreads" -> "1001"),
      Scope.BatchWrite,
      "PULSAR_OPTION_INVALID",
      Seq("`pulsar.client.numIoThreads`", "from 1 to 1000")
    ),
    (
      "no number of threads",
      required + ("bookkeeper.numIOThreads" -> "s3cret"),
      Scope.BatchRead,
      "PULSAR_OPTION_INVALID",
      Seq("`bookkeeper.numIOThreads`", "from 1 to 1000")
    ),
    (
      "too many tasks",
      required + ("minPartitions" -> "100001"),
      Scope.BatchRead,
      "PULSAR_OPTION_INVALID",
      Seq("`minPartitions`", "`100001`", "from 1 to 100000")
    ),
    (
      "producer in a read",
      required + ("pulsar.producer.batchingMaxMessages" -> "1"),
      Scope.BatchRead,
      "PULSAR_OPTION_WRONG_MODE",
      Seq("batch write")
    )
  )

  refused.foreach { case (name, options, scope, condition, words) =>
    test(s"refused: $name") {
      val e = intercept[IllegalArgumentException with PulsarError](CheckedOptions(options, scope, fields))
      assertEquals(e.condition, condition)
      words.foreach(w => assert(e.getMessage.contains(w), e.getMessage))
      assert(!e.getMessage.contains("s3cret"))
    }
  }

  test("keys match in any case, defaults are those of the table, Spark's own options are ignored") {
    val o = check("FAILONDATALOSS" -> "FALSE", "checkpointLocation" -> "/c", "path" -> "p")
    assertEquals(o.boolean("failOnDataLoss"), false)
    assertEquals(o.bytes("readAheadBytes"), 16L << 20)
    assertEquals(o.explicit("pollTimeoutMs"), None)
    assertEquals(o.duration("pollTimeoutMs"), 120000L)
  }

  test("client settings match in any case and keep the client's spelling") {
    assertEquals(check("pulsar.client.NUMIOTHREADS" -> "3").clientSettings("pulsar.client."),
      Map("numIoThreads" -> "3"))
  }

  test("an option may belong to any of the scopes a read can still have") {
    CheckedOptions(required + ("endingOffsets" -> "latest"), Seq(Scope.BatchRead, Scope.StreamRead), fields)
    intercept[IllegalArgumentException](
      CheckedOptions(required + ("schemaType" -> "avro"), Seq(Scope.BatchRead, Scope.StreamRead), fields)
    )
  }

  test("options of a read as text, their typed values") {
    val o =
      ReadOptions(check("pulsar.reader.receiverQueueSize" -> "7", "readAheadBytes" -> "2k", "publishTimeSkewMs" -> "5"))
    assertEquals(o.topics, TopicSelection.Named(Seq("t")))
    assertEquals(o.readAheadMessages, 7)
    assertEquals(o.readAheadBytes, 2048L)
    assertEquals(o.publishTimeSkew, 5.millis)
    assertEquals(
      ReadOptions(CheckedOptions(required - "topic" + ("topics" -> " a, b ,a,"), Scope.BatchRead, fields)).topics,
      TopicSelection.Named(Seq("a", "b"))
    )
  }

  test("private keys: a file, a file for each key, or a class") {
    def keys(options: (String, String)*) = ReadOptions(check(options: _*)).privateKeys
    val file                             = "encryption.privateKeyFile"
    assertEquals(keys(), None)
    assertEquals(keys(file -> "/a.pem"), Some(PrivateKeys.Files(Map.empty, Some("/a.pem"))))
    assertEquals(keys(file -> """{"a": "/a.pem", "b": "/b.pem"}"""),
      Some(PrivateKeys.Files(Map("a" -> "/a.pem", "b" -> "/b.pem"), None)))
    assertEquals(keys("pulsar.reader.cryptoKeyReader" -> "x.Y"), Some(PrivateKeys.ReaderClass("x.Y")))
    for (wrong <- Seq("{", "{}", """{"a": 1}""")) {
      val error = intercept[IllegalArgumentException](keys(file -> wrong))
      assert(error.getMessage.startsWith("[PULSAR_OPTION_INVALID]") && error.getMessage.contains(file),
        error.getMessage)
    }
    intercept[IllegalArgumentException](keys(file -> "/a.pem", "pulsar.reader.cryptoKeyReader" -> "x.Y"))
  }

  test("onDecodeError=dlq needs dlqTopic, and dlqTopic needs onDecodeError=dlq") {
    def policy(options: (String, String)*) = ReadOptions(check(options: _*)).onDecodeError
    assertEquals(policy(), OnDecodeError.Fail)
    assertEquals(policy("onDecodeError" -> "Null"), OnDecodeError.AsNull)
    assertEquals(policy("onDecodeError" -> "dlq", "dlqTopic" -> "bad"), OnDecodeError.DeadLetter("bad"))
    assert(
      intercept[IllegalArgumentException](policy("onDecodeError" -> "dlq")).getMessage.contains("`dlqTopic` is missing")
    )
    val alone = intercept[IllegalArgumentException](policy("onDecodeError" -> "drop", "dlqTopic" -> "bad"))
    assert(alone.getMessage.contains("`dlqTopic` requires `onDecodeError=dlq`"), alone.getMessage)
    intercept[IllegalArgumentException](
      policy("onDecodeError" -> "dlq", "dlqTopic" -> "bad", "encryption.privateKeyFile" -> "/a.pem")
    )
  }

  test("schemaMode=pinned needs readerSchema, and readerSchema needs schemaMode=pinned") {
    def mode(options: (String, String)*) = ReadOptions(check(options: _*)).schemaMode
    assertEquals(mode(), SchemaMode.Auto)
    assertEquals(mode("schemaMode" -> "RAW"), SchemaMode.Raw)
    assertEquals(mode("schemaMode" -> "pinned", "readerSchema" -> "{}"), SchemaMode.Pinned("{}"))
    assert(intercept[IllegalArgumentException](mode("schemaMode" -> "pinned")).getMessage.contains(
      "`readerSchema` is missing"
    ))
    val alone = intercept[IllegalArgumentException](mode("readerSchema" -> "{}"))
    assert(alone.getMessage.contains("`readerSchema` requires `schemaMode=pinned`"), alone.getMessage)
  }

  test("no text of typed options contains a secret") {
    val secret = "c4n4ry"
    val all = check("auth.basic.userId" -> "u", "auth.basic.password" -> secret, "pulsar.client.listenerName" -> secret)
    val read = ReadOptions(all)
    assert(!read.toString.contains(secret), read.toString)
    assertEquals(read.client.authentication, Authentication.Basic("u", Secret(secret)))
    assertEquals(Secret(secret).toString, "***")
    assertEquals(read.client, ReadOptions(all).client)
  }

  test("every rule of the table names existing options, every default has the form of its option") {
    val keys = OptionRegistry.definitions.map(_.key)
    assertEquals(keys.distinct, keys)
    (OptionRegistry.exactlyOne.flatMap(_._1) ++ (OptionRegistry.conflicts ++ OptionRegistry.needs).flatMap(p =>
      Seq(p._1, p._2)
    ))
      .filterNot(_.startsWith("pulsar."))
      .foreach(k => assert(keys.contains(k), k))
    OptionRegistry.definitions.filterNot(_.valueType == "offsets").foreach(d =>
      d.default.foreach(OptionValue.check(d, _))
    )
  }

  test("a size with a unit, its bytes; none for one that does not fit") {
    assertEquals(OptionValue.bytes("2K"), Some(2048L))
    assertEquals(OptionValue.bytes("999999999999999g"), None)
  }

  test("durations have one grammar, with units or in milliseconds, up to 36500 days") {
    val day = 86400000L
    Seq(
      "5"              -> 5L,
      "+5"             -> 5L,
      "500ms"          -> 500L,
      "2 s"            -> 2000L,
      "2 Seconds"      -> 2000L,
      "15m"            -> 900000L,
      "15 min"         -> 900000L,
      "1h"             -> 3600000L,
      "2 days"         -> 2 * day,
      "1w"             -> 7 * day,
      "36500d"         -> 36500 * day,
      "3 milliseconds" -> 3L
    ).foreach { case (text, millis) =>
      assertEquals(OptionValue.duration(text), Some(millis), text)
    }
    Seq("", "m", "15M", "-5", "1.5s", "1h30m", "36501d", "9999999999999", "99999999999999999999", "5 months", "٣s")
      .foreach(text => assertEquals(OptionValue.duration(text), None, text))
    val o = check("pollTimeoutMs" -> " 2 min ", "operationTimeoutMs" -> "5s")
    assertEquals((o.duration("pollTimeoutMs"), o.duration("operationTimeoutMs")), (120000L, 5000L))
  }

  test("the nearest name of a setting is also that of an alias") {
    val e = intercept[IllegalArgumentException](check("pulsar.reader.subscriptonName" -> "x"))
    assert(e.getMessage.contains("the nearest name is `pulsar.reader.subscriptionName`"), e.getMessage)
  }

  test("the nearest name is at most a third of the letters away") {
    val known = Seq("topic", "topics", "topicsPattern")
    assertEquals(NearestName("Topic", known), Some("topic"))
    assertEquals(NearestName("topicPattern", known), Some("topicsPattern"))
    assertEquals(NearestName("quite else", known), None)
    assertEquals(NearestName("topic" * 100000, known), None) // at once
    assertEquals(NearestName.distance("kitten", "sitting"), 3)
  }

  test("empty and repeated items of `topics` are ignored") {
    val options = CheckedOptions(required - "topic" + ("topics" -> " a,, b ,a, "), Scope.BatchRead, fields)
    assertEquals(ReadOptions(options).topics, TopicSelection.Named(Seq("a", "b")): TopicSelection)
  }

  test("topics in the name of a source: a few, or the first of many, or the pattern") {
    assertEquals(TopicSelection.Named(Seq("a", "b", "c")).shown, "a, b, c")
    assertEquals(TopicSelection.Named(Seq("a", "b", "c", "d")).shown, "a, ... (4 topics)")
    assertEquals(TopicSelection.Matching("public/default/a-.*").shown, "public/default/a-.*")
  }

  test("an option of the session is ignored where it has no meaning, one of the read or write itself is an error") {
    val session =
      Map("readLevel" -> "segment", "endingOffsets" -> "latest", "pulsar.producer.batchingMaxMessages" -> "1",
        "schemaType"  -> "avro")
    def checked(scope: Scope, own: (String, String)*) =
      new RawOptions(session ++ required ++ own, fields, session).check(scope)
    assertEquals(checked(Scope.BatchWrite).explicit("schemaType"), Some("avro"))
    assertEquals(checked(Scope.BatchWrite).clientSettings("pulsar.producer."), Map("batchingMaxMessages" -> "1"))
    assertEquals(checked(Scope.StreamWrite).explicit("readLevel"), None)
    assertEquals(checked(Scope.BatchRead).explicit("readLevel"), Some("segment"))
    assertEquals(checked(Scope.BatchRead).explicit("endingOffsets"), Some("latest"))
    assertEquals(checked(Scope.StreamRead).explicit("endingOffsets"), None)
    assertEquals(checked(Scope.StreamRead).clientSettings("pulsar.producer."), Map.empty[String, String])
    def condition(scope: Scope, own: (String, String)*) =
      intercept[RuntimeException with PulsarError](checked(scope, own: _*)).condition
    assertEquals(condition(Scope.BatchWrite, "readLevel" -> "broker"), "PULSAR_OPTION_WRONG_MODE")
    assertEquals(condition(Scope.StreamRead, "pulsar.producer.batchingMaxMessages" -> "2"), "PULSAR_OPTION_WRONG_MODE")
    assertEquals(condition(Scope.BatchWrite, "readlvl" -> "broker"), "PULSAR_OPTION_UNKNOWN")
  }

  test(
    "options of the query override stored ones, these those of the session; stored ones are ignored where they have no meaning"
  ) {
    val session = Map("service.url" -> "pulsar://session:1", "pollTimeoutMs" -> "1")
    val stored  =
      Map("SERVICE.URL" -> "pulsar://stored:1", "endingOffsets" -> "latest", "sendTimeoutMs" -> "3", "topic" -> "t")
    def checked(scope: Scope, query: (String, String)*) =
      new RawOptions(query.toMap, fields, session, Some(stored)).check(scope)
    assertEquals(checked(Scope.BatchRead)("service.url"), "pulsar://stored:1")
    assertEquals(checked(Scope.BatchRead, "Service.Url" -> "pulsar://session:1")("service.url"), "pulsar://session:1")
    assertEquals(checked(Scope.BatchRead).explicit("pollTimeoutMs"), Some("1"))
    assertEquals(checked(Scope.StreamRead).explicit("endingOffsets"), None)
    assertEquals(checked(Scope.BatchWrite).duration("sendTimeoutMs"), 3L)
    def condition(scope: Scope, query: (String, String)*) =
      intercept[RuntimeException with PulsarError](checked(scope, query: _*)).condition
    assertEquals(condition(Scope.StreamRead, "endingOffsets" -> "latest"), "PULSAR_OPTION_WRONG_MODE")
    assertEquals(condition(Scope.BatchRead, "zzz" -> "1"), "PULSAR_OPTION_UNKNOWN")
  }

  test("a table without options is an error, unless the query or the session sets some") {
    def condition(query: Map[String, String], session: Map[String, String]) =
      intercept[RuntimeException with PulsarError](
        new RawOptions(query, fields, session, Some(Map.empty)).check(Scope.BatchRead)
      ).condition
    assertEquals(condition(Map.empty, Map.empty), "PULSAR_TABLE_WITHOUT_OPTIONS")
    assertEquals(condition(Map("topic" -> "t"), Map.empty), "PULSAR_OPTION_MISSING")
    assertEquals(condition(Map.empty, required - "topic"), "PULSAR_TOPIC_OPTION")
  }
}
