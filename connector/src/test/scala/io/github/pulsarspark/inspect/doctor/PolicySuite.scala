package io.github.pulsarspark.inspect.doctor

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.UnitSuite

class PolicySuite extends UnitSuite {

  private val None0 = """{"retentionTimeInMinutes":0,"retentionSizeInMB":0}"""
  private val Week  = """{"retentionTimeInMinutes":10080,"retentionSizeInMB":-1}"""
  private val Evict =
    """{"destination_storage":{"limitSize":1000,"limitTime":-1,"policy":"consumer_backlog_eviction"}}"""

  /** Findings by check: state, condition without its prefix, or detail. */
  private def found(subscription: Option[String], policies: (String, String)*): Map[String, String] = {
    val asked                               = policies.toMap
    def ask(name: String): Option[JsonNode] = asked.get(name).map(new ObjectMapper().readTree(_))
    Policy.all.map { policy =>
      val finding = policy.finding("persistent://public/default/t", ask, subscription)
      policy.name -> finding.problem.fold(finding.detail)(_.condition.name)
    }.toMap
  }

  test("without retention a stream needs a subscription that keeps what it has not read") {
    assertEquals(found(None, "retention" -> None0)("retention"), "PULSAR_POLICY_LOSES_DATA.RETENTION")
    assertEquals(found(None)("retention"), "PULSAR_POLICY_LOSES_DATA.RETENTION")
    assertEquals(found(Some("s"), "retention" -> None0)("retention"), "none, but subscription s keeps what is not read")
  }

  test("retention needs both bounds, of which -1 is none") {
    def retention(minutes: Long, mb: Long) =
      found(None, "retention" -> s"""{"retentionTimeInMinutes":$minutes,"retentionSizeInMB":$mb}""")("retention")
    assertEquals(retention(10080, 0), "PULSAR_POLICY_LOSES_DATA.RETENTION")
    assertEquals(retention(10080, -1), "up to 10080 minutes")
    assertEquals(retention(10080, 512), "up to 10080 minutes and 512 MB")
    assertEquals(retention(-1, -1), "for ever")
  }

  test("a message TTL harms a subscription, unless retention keeps the messages") {
    val ttl = "messageTTL" -> "600"
    assertEquals(found(Some("s"), ttl, "retention" -> None0)("message TTL"), "PULSAR_POLICY_LOSES_DATA.TTL")
    assertEquals(found(Some("s"), ttl, "retention" -> Week)("message TTL"), "600 s, but retention keeps messages")
    assertEquals(found(None, ttl, "retention" -> None0)("message TTL"), "600 s, which concerns subscriptions alone")
    assertEquals(found(Some("s"), "messageTTL" -> "null")("message TTL"), "none")
  }

  test("a backlog quota harms a subscription when it evicts and has a limit") {
    assertEquals(found(Some("s"), "backlogQuotaMap" -> Evict)("backlog quota"),
      "PULSAR_POLICY_LOSES_DATA.BACKLOG_QUOTA")
    assertEquals(found(Some("s"), "backlogQuotaMap" -> Evict.replace("1000", "-1"))("backlog quota"),
      "none that evicts")
    val hold = Evict.replace("consumer_backlog_eviction", "producer_request_hold")
    assertEquals(found(Some("s"), "backlogQuotaMap" -> hold)("backlog quota"), "none that evicts")
  }
}
