package io.github.pulsarspark.pulsar.transactions

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite

class ControlPoliciesSuite extends UnitSuite {
  private def problems(policies: String) = ControlPolicies.problems(new ObjectMapper().readTree(policies))

  test("policies that end what is not acknowledged are named with their times") {
    assertEquals(
      problems("""{"message_ttl_in_seconds":60,"subscription_expiration_time_minutes":3,"backlog_quota_map":{
        "destination_storage":{"limitSize":1,"limitTime":-1},"message_age":{"limitSize":-1,"limitTime":7}}}"""),
      Seq("a message TTL of 60 s", "an expiry of subscriptions of 3 min", "a backlog quota by age of 7 s")
    )
  }

  test("others, and those that are switched off, are not") {
    assertEquals(problems("{}"), Nil)
    assertEquals(
      problems("""{"message_ttl_in_seconds":0,"subscription_expiration_time_minutes":null,"backlog_quota_map":{
        "destination_storage":{"limitSize":1,"limitTime":9},"message_age":{"limitTime":-1}}}"""),
      Nil
    )
  }
}
