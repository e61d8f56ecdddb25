package io.github.pulsarspark.pulsar.admin

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.ScriptedHttp
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.PulsarConnection

/** Requests to the admin service, and what its answers mean. */
class AdminApiSuite extends UnitSuite {

  private val topic = "persistent://public/default/a b"
  private val path  = "/admin/v2/persistent/public/default/a+b"

  /** The result of a call with the requests that it sent. */
  private def asking[A](answers: PartialFunction[String, (Int, String)])(call: AdminApi => CompletableFuture[A])
      : (A, Seq[String]) =
    Using.resource(new ScriptedHttp(answers.applyOrElse(_, (_: String) => (404, """{"reason":"not there"}""")))) {
      http =>
        val options = ClientOptions(CheckedOptions(
          Map("service.url" -> "pulsar://admin.test:1", "admin.url" -> http.url, "topic" -> "t"),
          Scope.BatchRead,
          _ => Nil
        ))
        Using.resource(PulsarConnection(options)) { connection =>
          val result = call(connection.admin.get).get(20, TimeUnit.SECONDS)
          (result, http.take())
        }
    }

  private def outcome(answers: PartialFunction[String, (Int, String)])(call: AdminApi => CompletableFuture[Outcome]) =
    asking(answers)(call)._1

  private val creating = s"""PUT $path {"pulsar-spark.creator": "me"}"""
  private val reading  = s"GET $path/properties"

  test("a topic without partitions is made by the one whose name it has: of two at the same time, one") {
    val made = asking { case `creating` => (204, ""); case `reading` => (200, """{"pulsar-spark.creator":"me"}""") }(
      _.create(topic, 0, "me")
    )
    assertEquals(made, Outcome.Done -> Seq(creating, reading))
    assertEquals(
      outcome { case `creating` => (204, ""); case `reading` => (200, """{"pulsar-spark.creator":"you"}""") }(
        _.create(topic, 0, "me")
      ),
      Outcome.Exists
    )
    assertEquals(outcome { case `creating` => (204, "") }(_.create(topic, 0, "me")), Outcome.Done,
      "brokers without properties cannot tell")
    assertEquals(outcome { case `creating` => (409, "{}") }(_.create(topic, 0, "me")), Outcome.Exists)
    assertEquals(outcome(PartialFunction.empty)(_.create(topic, 0, "me")), Outcome.Absent, "its namespace")
  }

  test("a topic with partitions is made in one request") {
    assertEquals(asking { case _ => (204, "") }(_.create(topic, 3, "me")),
      Outcome.Done -> Seq(s"PUT $path/partitions 3"))
    assertEquals(asking { case _ => (204, "") }(_.setPartitions(topic, 5)),
      Outcome.Done -> Seq(s"POST $path/partitions 5"))
  }

  test("a topic is deleted with its partitions, unless somebody uses it") {
    assertEquals(asking { case _ => (204, "") }(_.delete(topic, isPartitioned = false)),
      Outcome.Done -> Seq(s"DELETE $path"))
    assertEquals(asking { case _ => (204, "") }(_.delete(topic, isPartitioned = true)),
      Outcome.Done -> Seq(s"DELETE $path/partitions"))
    outcome { case _ => (412, """{"reason":"Topic has active producers"}""") }(_.delete(topic, false)) match {
      case Outcome.Refused(why) => assert(why.contains("active producers"), why)
      case other                => fail(other.toString)
    }
  }

  test("a policy: its value, none of a topic that is not there, or brokers that have no such policies") {
    def policy(status: Int, json: String) = asking { case _ => (status, json) }(_.policy(topic, "retention"))
    assertEquals(policy(200, """{"a":1}""")._1.map(_.toString), Right("""{"a":1}"""))
    assertEquals(policy(404, "{}")._1, Left(Outcome.Absent))
    assertEquals(policy(405, "{}"), Left(Outcome.Disabled) -> Seq(s"GET $path/retention"))
  }

  test("a policy is set in the body of a request, but for the one that brokers take in the address") {
    def set(name: String, json: String) = asking { case _ => (204, "") }(_.setPolicy(topic, name, json))._2
    assertEquals(set("retention", """{"a":1}"""), Seq(s"""POST $path/retention {"a":1}"""))
    assertEquals(set("messageTTL", "7"), Seq(s"POST $path/messageTTL?messageTTL=7"))
    assertEquals(asking { case _ => (204, "") }(_.removePolicy(topic, "retention"))._2, Seq(s"DELETE $path/retention"))
  }

  test("a resource that does not exist is none; a refusal is a failure, not an answer") {
    assertEquals(asking { case "GET /admin/v2/tenants" => (200, "[]") }(_.find("v2/tenants"))._1.map(_.toString),
      Some("[]"))
    assertEquals(asking(PartialFunction.empty)(_.find("v2/tenants"))._1, None)
    intercept[ExecutionException](asking { case _ => (403, """{"reason":"no"}""") }(_.find("v2/tenants")))
    intercept[ExecutionException](asking { case _ => (403, """{"reason":"no"}""") }(_.delete(topic, false)))
    assertEquals(asking { case r if r.endsWith("metadata=false") => (200, "{}") }(_.knows(topic))._1, true)
    assertEquals(asking(PartialFunction.empty)(_.knows(topic))._1, false)
  }
}
