package io.github.pulsarspark.catalog

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.concurrent.TrieMap
import scala.util.Using

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.connector.catalog.Identifier

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.ScriptedHttp
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.PulsarConnection

/** Policies of a topic by a scripted admin service, which keeps what it is given. */
class TopicPoliciesSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"
  private val ident = Identifier.of(Array("public", "default"), "t")
  private val path  = "/admin/v2/persistent/public/default/t"

  /** A service that has these policies.
    *
    * @param late
    *   looks at a policy that show what was there before the first change
    */
  private def asking[A](
      policies: TrieMap[String, String],
      late: Int = 0
  )(test: TopicPolicies => A): (A, Seq[String]) = {
    val before = policies.toMap
    val looks  = new AtomicInteger(0)
    var isSet  = false
    val answer = (request: String) => {
      val parts         = request.split(" ", 3)
      val (method, uri) = (parts(0), parts(1))
      val name          = uri.stripPrefix(s"$path/").takeWhile(_ != '?')
      method match {
        case "GET" if isSet && looks.incrementAndGet() <= late => (200, before.getOrElse(name, ""))
        case "GET"                                             => (200, policies.getOrElse(name, ""))
        case "POST"                                            =>
          isSet = true
          policies(name) = parts.lift(2).getOrElse(uri.split('=').last)
          (204, "")
        case _ =>
          isSet = true
          policies.remove(name)
          (204, "")
      }
    }
    against(answer)(test)
  }

  private def against[A](answer: String => (Int, String))(test: TopicPolicies => A): (A, Seq[String]) =
    Using.resource(new ScriptedHttp(answer)) { http =>
      val options = ClientOptions(CheckedOptions(
        Map("service.url" -> "pulsar://policies.test:1", "admin.url" -> http.url, "topic" -> "t"),
        Scope.BatchRead,
        _ => Nil
      ))
      Using.resource(PulsarConnection(options)) { connection =>
        val result = test(new TopicPolicies(options, connection.admin.get))
        (result, http.take().map(_.replace(path, "")))
      }
    }

  private def changes(set: (String, Option[Long])*): PolicyChanges =
    set.foldLeft(PolicyChanges()) { case (all, (name, value)) => all + (PolicyProperty.find(name).get, value) }

  test("properties as users write them, none for a policy that the topic does not have") {
    val policies =
      TrieMap("retention" -> """{"retentionTimeInMinutes":120,"retentionSizeInMB":-1}""", "messageTTL" -> "30")
    assertEquals(asking(policies)(_.properties(topic))._1,
      Map("retention.time" -> "2h", "retention.size" -> "infinite", "messageTTL" -> "30s"))
  }

  test("a change is sent once, and looked at until brokers show it") {
    val (_, requests) =
      asking(TrieMap("messageTTL" -> "30"), late = 2)(_.change(ident, topic, changes("messageTTL" -> Some(60))))
    assertEquals(requests, "GET /messageTTL" +: "POST /messageTTL?messageTTL=60" +: Seq.fill(3)("GET /messageTTL"))
  }

  test("a change to what is there already is none") {
    val (_, requests) = asking(TrieMap("messageTTL" -> "30"))(_.change(ident, topic, changes("messageTTL" -> Some(30))))
    assertEquals(requests, Seq("GET /messageTTL"))
  }

  test("a part of a policy keeps the other; the last limit that is unset removes it") {
    val policies = TrieMap("retention" -> """{"retentionTimeInMinutes":120,"retentionSizeInMB":5}""")
    asking(policies)(_.change(ident, topic, changes("retention.time" -> Some(60))))
    assertEquals(policies("retention"), """{"retentionTimeInMinutes":60,"retentionSizeInMB":5}""")
    asking(policies)(_.change(ident, topic, changes("retention.time" -> None, "retention.size" -> None)))
    assertEquals(policies.get("retention"), None)
  }

  private def refused(status: Int): RuntimeException with PulsarError = intercept[RuntimeException with PulsarError](
    against(request => if (request.startsWith("GET")) (200, "") else (status, """{"reason":"too small"}"""))(
      _.change(ident, topic, changes("compactionThreshold" -> Some(1)))
    )
  )

  test("a value that brokers refuse, and brokers that have no policies: errors with the property") {
    val value = refused(412)
    assertEquals((value.condition, value.parameters("property")), ("PULSAR_TABLE_PROPERTY", "compactionThreshold"))
    assert(value.parameters("why").contains("too small"), value)
    assertEquals(refused(405).condition, "PULSAR_TOPIC_POLICIES_DISABLED")
    intercept[NoSuchTableException](
      against(_ => (404, "{}"))(_.change(ident, topic, changes("compactionThreshold" -> Some(1))))
    )
  }
}
