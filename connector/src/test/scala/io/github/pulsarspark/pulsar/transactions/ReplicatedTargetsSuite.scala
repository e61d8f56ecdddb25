package io.github.pulsarspark.pulsar.transactions

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite

class ReplicatedTargetsSuite extends UnitSuite {
  private def several(policy: String) = ReplicatedTargets.several(new ObjectMapper().readTree(policy))

  test("several clusters are named in order; one alone, and a topic without the policy, are none") {
    assertEquals(several("""["west", "east"]"""), Seq("east", "west"))
    Seq("""["east"]""", "[]", "null", "").foreach(policy => assertEquals(several(policy), Nil, policy))
  }
}
