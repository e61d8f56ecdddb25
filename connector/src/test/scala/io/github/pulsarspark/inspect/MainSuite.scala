package io.github.pulsarspark.inspect

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.UnitSuite

class MainSuite extends UnitSuite {

  private def asked(question: String): (JsonNode, Int) = {
    val bytes = new ByteArrayOutputStream
    val code  = Main.run(new ByteArrayInputStream(question.getBytes(UTF_8)), new PrintStream(bytes))
    (new ObjectMapper().readTree(bytes.toByteArray), code)
  }

  private def refused(question: String)(condition: String, words: String*): Unit = {
    val (answer, code) = asked(question)
    assertEquals((answer.path("error").path("condition").asText, code), (condition, 1))
    val text = answer.path("error").path("message").asText
    assert(text.startsWith(s"[$condition]") && words.forall(text.contains), text)
  }

  test("a request that is none is an error of the one who asks") {
    refused("not JSON")("PULSAR_INTERNAL")
    refused("")("PULSAR_OPTION_INVALID", "`metadata`")
    refused("{}")("PULSAR_OPTION_INVALID", "`metadata`")
    refused("""{"view": "partition", "options": {}}""")("PULSAR_OPTION_INVALID", "the nearest is `partitions`")
  }

  test("an error has its parameters, and no secret") {
    val (answer, code) = asked("""{"view": "partitions", "options": {"auth.token": "hunter2", "topics": "t"}}""")
    assertEquals(code, 1)
    assertEquals(answer.path("error").path("parameters").path("option").asText, "service.url")
    assert(!answer.toString.contains("hunter2"), answer)
  }

  test("a view says what it lacks before it asks anyone") {
    val url = """"service.url": "pulsar://localhost:1""""
    refused(s"""{"view": "partitions", "options": {$url}}""")("PULSAR_TOPIC_OPTION", "none is set")
    refused(s"""{"view": "partitions", "options": {$url, "topic": "a", "topics": "b"}}""")("PULSAR_TOPIC_OPTION",
      "`topic` and `topics` are set")
    refused(s"""{"view": "partitions", "options": {$url, "topic": "a", "schemaType": "avro"}}""")(
      "PULSAR_OPTION_WRONG_MODE",
      "metadata table"
    )
  }

  test("an option without effect is refused, with those that have one") {
    def ask(view: String, options: String) =
      s"""{"view": "$view", "options": {"service.url": "pulsar://localhost:1", $options}}"""
    refused(ask("partitions", """"topic": "a", "READLEVEL": "broker""""))("PULSAR_METADATA_OPTION",
      "`READLEVEL`", "`partitions`", "`topicsPattern`", "`pulsar.reader.*`")
    refused(ask("plan", """"topic": "a", "checkpoint": "c""""))("PULSAR_METADATA_OPTION", "`checkpoint`",
      "those of a batch read.")
    refused(ask("sinks", """"topic": "a", "sinkId": "s""""))("PULSAR_METADATA_OPTION", "`topic`, `sinkNamespace`.")
    refused(ask("topics", """"namespace": "a/b", "startingOffsets": "latest""""))("PULSAR_METADATA_OPTION",
      "`namespace`")
  }

  test("a table or a repair of sinks says what it lacks") {
    val url = """"service.url": "pulsar://localhost:1""""
    refused(s"""{"view": "sinks", "options": {$url}}""")("PULSAR_OPTION_INCOMPLETE", "sinkNamespace` or `topic")
    refused(s"""{"view": "sinks", "options": {$url, "sinkNamespace": "a"}}""")("PULSAR_EXACTLY_ONCE_OPTION",
      "tenant/namespace")
    refused(s"""{"view": "sink", "options": {$url, "topic": "t"}}""")("PULSAR_OPTION_MISSING", "`sinkId`")
    refused(s"""{"view": "sink", "options": {$url, "topic": "t", "sinkId": "a/b"}}""")("PULSAR_EXACTLY_ONCE_OPTION",
      "letters, digits")
    refused(s"""{"repair": {}, "options": {$url, "topic": "t"}}""")("PULSAR_EXACTLY_ONCE_OPTION",
      "`sinkId` is not set")
    refused(s"""{"repair": {}, "options": {$url, "sinkId": "a"}}""")("PULSAR_EXACTLY_ONCE_OPTION",
      "Set sinkNamespace")
    refused(s"""{"repair": {"torn": "x"}, "options": {$url, "topic": "t", "sinkId": "a"}}""")(
      "PULSAR_OPTION_INVALID",
      "lost or repeated"
    )
    refused("""{"repair": {}, "options": {"topic": "t", "sinkId": "a"}}""")("PULSAR_OPTION_MISSING", "`service.url`")
    refused(s"""{"repair": {}, "options": {$url, "topic": "t", "sinkId": "a", "checkpoint": "c"}}""")(
      "PULSAR_OPTION_WRONG_MODE"
    )
  }

  test("a file that cannot hold certificates is refused by its name") {
    Seq("/dev/zero", "/no/such/file").foreach { file =>
      val options =
        s"""{"service.url": "pulsar+ssl://localhost:1", "sinkNamespace": "a/b", "tls.trustCertsFile": "$file"}"""
      refused(s"""{"view": "sinks", "options": $options}""")("PULSAR_FILE_UNREADABLE", file)
    }
  }

  test("a lag needs one who reads") {
    val url                  = """"service.url": "pulsar://localhost:1""""
    def lag(options: String) = s"""{"view": "lag", "options": {$url, $options}}"""
    refused(lag(""""topic": "t""""))("PULSAR_OPTION_INCOMPLETE", "metadata=lag", "checkpoint")
    refused(lag(""""checkpoint": "/c", "startingOffsets": "earliest""""))("PULSAR_OPTION_CONFLICT", "`checkpoint`")
    refused(lag(""""startingOffsets": "earliest""""))("PULSAR_TOPIC_OPTION", "none is set")
    refused(lag(""""topic": "t", "progressSubscription": "s""""))("PULSAR_OPTION_INCOMPLETE", "admin.url")
    refused(lag(""""checkpoint": "/no/such/folder""""))("PULSAR_CHECKPOINT_NOT_FOUND", "/no/such/folder")
  }
}
