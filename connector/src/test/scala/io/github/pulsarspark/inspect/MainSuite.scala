package io.github.pulsarspark.inspect

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import munit.FunSuite

class MainSuite extends FunSuite {

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
}
