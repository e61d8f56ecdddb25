package io.github.pulsarspark.policy

import java.nio.file.Path

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

final class PolicySettingsSuite extends UnitSuite {

  private def invalid(settings: (String, String)*) = {
    val e = intercept[IllegalArgumentException with PulsarError](PolicySettings.policy(settings.toMap))
    assertEquals(e.condition, "PULSAR_POLICY_INVALID")
    (e.parameters("key").stripPrefix("spark.pulsar.policy."), e.parameters("value"))
  }

  test("no setting, and the mode open with any others, are no policy") {
    assertEquals(PolicySettings.policy(Map.empty), None)
    assertEquals(PolicySettings.policy(Map("mode" -> "open", "hosts" -> "a:1", "files" -> "/keys")), None)
  }

  test("the mode shared alone lists nothing") {
    assertEquals(PolicySettings.policy(Map("mode" -> "shared")),
      Some(Policy(Nil, inlineSecrets = false, Nil, Set.empty, Nil, insecure = false)))
  }

  test("all settings, with spaces and any case of words") {
    val policy = PolicySettings.policy(Map(
      "mode"          -> " Shared ",
      "files"         -> "/keys, /certs",
      "inlineSecrets" -> "TRUE",
      "hosts"         -> "a.example:6650,*.b.example:*",
      "classes"       -> "x.Y, x.Z",
      "storage"       -> "s3a://bucket/a",
      "insecure"      -> "true"
    )).get
    assertEquals(policy.files, Seq(Path.of("/keys"), Path.of("/certs")))
    assertEquals((policy.hosts.size, policy.classes, policy.storage.size), (2, Set("x.Y", "x.Z"), 1))
    assert(policy.inlineSecrets && policy.insecure)
  }

  test("a setting that would be ignored fails by its name") {
    assertEquals(invalid("mode" -> "shared", "host" -> "a:1"), ("host", "a:1"))
    assertEquals(invalid("mode" -> "closed"), ("mode", "closed"))
    assertEquals(invalid("hosts" -> "a:1"), ("mode", ""))
    assertEquals(invalid("mode" -> "open", "hosts" -> "a"), ("hosts", "a"))
    assertEquals(invalid("mode" -> "shared", "files" -> "keys"), ("files", "keys"))
    assertEquals(invalid("mode" -> "shared", "files" -> "/a\u0000b"), ("files", "/a\u0000b"))
    assertEquals(invalid("mode" -> "shared", "storage" -> "/data"), ("storage", "/data"))
    assertEquals(invalid("mode" -> "shared", "insecure" -> "yes"), ("insecure", "yes"))
    assertEquals(invalid("mode" -> "shared", "inlineSecrets" -> ""), ("inlineSecrets", ""))
  }
}
