package io.github.pulsarspark.checkpoint

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite

class PreflightSuite extends UnitSuite {
  private val json = new ObjectMapper

  private def problem(name: String, policy: String) = Preflight.problem(name, json.readTree(policy))

  test("policies that lose a checkpoint are named, those that do not pass") {
    Seq(
      ("messageTTL", "3600", "0"),
      ("subscriptionExpirationTime", "5", "0"),
      ("backlogQuotaMap", """{"destination_storage": {"limitSize": 1, "policy": "consumer_backlog_eviction"}}""",
        """{"destination_storage": {"limitSize": 1, "policy": "producer_request_hold"}}"""),
      ("backlogQuotaMap", """{"message_age": {"limitTime": 1, "policy": "consumer_backlog_eviction"}}""", "{}"),
      ("inactiveTopicPolicies",
        """{"deleteWhileInactive": true, "inactiveTopicDeleteMode": "delete_when_subscriptions_caught_up"}""",
        """{"deleteWhileInactive": true, "inactiveTopicDeleteMode": "delete_when_no_subscriptions"}"""),
      ("replication", """["a", "b"]""", """["a"]"""),
      ("compactionThreshold", "1000", "0"),
      ("maxMessageSize", "1000", "5242880")
    ).foreach { case (name, bad, good) =>
      assert(problem(name, bad).exists(_.startsWith(name.take(8))), s"$name $bad")
      assertEquals(problem(name, good), None, s"$name $good")
      assertEquals(problem(name, "null"), None)
    }
  }
}
