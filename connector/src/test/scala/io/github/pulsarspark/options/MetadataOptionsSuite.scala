package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.registry.RawOptions

/** Checks what a metadata table requires of its options, before any request. */
class MetadataOptionsSuite extends UnitSuite {

  private def options(set: (String, String)*) =
    MetadataOptions("partitions", new RawOptions(Map("metadata" -> "partitions") ++ set, _ => Nil))

  private val url = "service.url" -> "pulsar://h:1"

  private def refused(condition: String)(body: => Any): Map[String, String] = {
    val e = intercept[RuntimeException with PulsarError](body)
    assertEquals(e.condition, condition)
    e.parameters
  }

  test("a cluster: where a table needs one") {
    options(url).requireCluster()
    refused("PULSAR_OPTION_MISSING")(options().requireCluster())
    assertEquals((options(url).cluster.map(_.serviceUrl), options().cluster), (Some("pulsar://h:1"), None))
  }

  test("topics: selected in one way") {
    options(url, "topic" -> "t").requireTopics()
    assertEquals(refused("PULSAR_TOPIC_OPTION")(options(url).requireTopics()), Map("problem" -> "none is set"))
    assertEquals((options(url, "topics" -> "a,b").hasTopics, options(url).hasTopics), (true, false))
  }

  test("an admin service: by its address") {
    options(url, "admin.url" -> "http://h:2").requireAdmin()
    assertEquals(refused("PULSAR_OPTION_INCOMPLETE")(options(url).requireAdmin()),
      Map("present" -> "metadata=partitions", "missing" -> "admin.url"))
  }

  test("sinks: a cluster and a namespace, by itself or by a topic") {
    options(url, "sinkNamespace" -> "public/default").requireSinks()
    options(url, "topic" -> "t").requireSinks()
    assertEquals(refused("PULSAR_OPTION_INCOMPLETE")(options(url).requireSinks())("missing"),
      "sinkNamespace` or `topic")
  }

  test("a namespace: the one that is set or the default one, but not beside topics") {
    assertEquals(options(url).namespacePattern, "public/default/.*")
    assertEquals(options(url, "namespace" -> "a/b").namespacePattern, "a/b/.*")
    assertEquals(refused("PULSAR_OPTION_CONFLICT")(options(url, "namespace" -> "a/b", "topic" -> "t").namespacePattern),
      Map("first" -> "namespace", "second" -> "topic"))
    assertEquals(options(url, "topic" -> "t").namespacePattern, "public/default/.*", "the default is no choice")
  }

  test("requests of a diagnosis end soon, unless the option says how long they may take") {
    assertEquals(options(url).quick.client.operationTimeout, 5.seconds)
    assertEquals(options(url, "operationTimeoutMs" -> "7000").quick.client.operationTimeout, 7.seconds)
  }

  test("a write is tried only where the option asks for it") {
    assertEquals(options(url, "topic" -> "t").write, None)
    assert(options(url, "topic" -> "t", "write" -> "true").write.isDefined)
  }

  test("a session cannot make all reads those of a table") {
    val session = Map("metadata" -> "partitions")
    assertEquals(MetadataOptions.table(new RawOptions(Map.empty, _ => Nil, session)), None)
    assertEquals(MetadataOptions.table(new RawOptions(session, _ => Nil)), Some("partitions"))
  }
}
