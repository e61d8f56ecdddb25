package io.github.pulsarspark.inspect.doctor

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.ScriptedHttp
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.PulsarConnection

/** Checks of an admin service, by its answers. */
class AdminChecksSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"
  private val path  = "/admin/v2/persistent/public/default"

  private type Answers = PartialFunction[String, (Int, String)]

  /** Findings by check, with the requests.
    *
    * @param topics
    *   each with its one partition
    */
  private def examined(topics: Seq[String], answers: Answers): (Map[String, Finding], Seq[String]) =
    Using.resource(new ScriptedHttp(answers.applyOrElse(_, (_: String) => (404, """{"reason":"not there"}""")))) { http =>
      found(topics, "admin.url" -> http.url) -> http.take()
    }

  private def found(topics: Seq[String], set: (String, String)*): Map[String, Finding] = {
    val settings = Map("service.url" -> "pulsar://admin.test:1", "topic" -> "t", "operationTimeoutMs" -> "20000") ++ set
    val options  = ReadOptions(CheckedOptions(settings, Scope.BatchRead, _ => Nil))
    Using.resource(PulsarConnection(options.client)) { connection =>
      new AdminChecks(() => connection, options, () => topics.map(t => t -> Seq(t)).toMap).all
        .map(check => check.name -> check.work()).toMap
    }
  }

  private def states(findings: Map[String, Finding]) = findings.view.mapValues(_.state).toMap

  private def problem(finding: Finding) = finding.problem.map(_.condition.name)

  test("without an admin service there is nothing to check") {
    assertEquals(states(found(Seq(topic))).values.toSet, Set("skipped"))
  }

  test("a service that knows a partition of the topics is of their cluster, one that does not is of another") {
    val knowing: Answers = { case request if request.startsWith(s"GET $path/t/internalStats") => (200, "{}") }
    assertEquals(examined(Seq(topic), knowing)._1(AdminChecks.Name).state, "ok")
    assertEquals(problem(examined(Seq(topic), PartialFunction.empty)._1(AdminChecks.Name)),
      Some("PULSAR_ADMIN_OTHER_CLUSTER"))
  }

  test("without topics the service is asked for its clusters, and no policy is looked at") {
    val (findings, requests) = examined(Nil, { case "GET /admin/v2/clusters" => (200, "[]") })
    assertEquals(findings(AdminChecks.Name).state, "ok")
    assertEquals(states(findings - AdminChecks.Name).values.toSet, Set("skipped"))
    assertEquals(requests, Seq("GET /admin/v2/clusters"))
  }

  /** Minutes for which topics keep messages. */
  private def retention(minutes: (String, Int)*): Answers = minutes.map { case (name, of) =>
    s"GET $path/$name/retention?applied=true" -> (200, s"""{"retentionTimeInMinutes":$of,"retentionSizeInMB":-1}""")
  }.toMap

  test("policies: the first topic that loses messages counts; without one, the first topic") {
    val topics = Seq("a", "b", "c").map(n => s"persistent://public/default/$n")
    val kept   = examined(topics, retention("a" -> 7, "b" -> 8, "c" -> 9))._1("retention")
    assertEquals((kept.state, kept.detail), ("ok", "up to 7 minutes"))
    val losing = examined(topics, retention("a" -> 7, "b" -> 0, "c" -> 9))._1("retention")
    assertEquals((losing.state, problem(losing)), ("warn", Some("PULSAR_POLICY_LOSES_DATA.RETENTION")))
    assert(losing.detail.contains(topics(1)), losing.detail)
  }

  test("policies: some topics stand for many") {
    val topics        = (10 to 29).map(n => s"persistent://public/default/t$n")
    val (_, requests) = examined(topics, PartialFunction.empty)
    assertEquals(requests.filter(_.contains("/messageTTL")),
      (10 to 17).map(n => s"GET $path/t$n/messageTTL?applied=true"))
  }

  test("policies: a role that may not see them may read the topic nevertheless") {
    val denied: Answers = {
      case request if request.contains("/internalStats") => (200, "{}")
      case _                                             => (403, """{"reason":"not an administrator"}""")
    }
    val findings = examined(Seq(topic), denied)._1
    assertEquals(findings(AdminChecks.Name).state, "ok")
    assertEquals(states(findings - AdminChecks.Name).values.toSet, Set("skipped"))
  }
}
