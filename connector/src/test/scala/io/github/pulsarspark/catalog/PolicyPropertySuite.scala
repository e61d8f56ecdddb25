package io.github.pulsarspark.catalog

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite

class PolicyPropertySuite extends UnitSuite {

  private def property(name: String) = PolicyProperty.find(name).get

  Seq(
    ("retention.time", "7d", 10080L, "7d"),
    ("retention.time", "90m", 90L, "90m"),
    ("retention.time", "120 minutes", 120L, "2h"),
    ("retention.time", "-1", -1L, "infinite"),
    ("retention.time", "0", 0L, "0"),
    ("retention.size", "10g", 10240L, "10g"),
    ("retention.size", "1.5GB", 1536L, "1536m"),
    ("retention.size", "Infinite", -1L, "infinite"),
    ("messageTTL", "90s", 90L, "90s"),
    ("MESSAGEttl", "1h", 3600L, "1h"),
    ("compactionThreshold", "100m", 104857600L, "100m"),
    ("compactionThreshold", "1000", 1000L, "1000"),
    ("deduplicationEnabled", "TRUE", 1L, "true"),
    ("deduplicationEnabled", "false", 0L, "false")
  ).foreach { case (name, text, value, shown) =>
    test(s"$name = $text, and shown as it can be written again") {
      assertEquals(property(name).parse(text), Some(value))
      assertEquals(property(name).text(value), shown)
      assertEquals(property(name).parse(shown), Some(value))
    }
  }

  test("values that brokers do not count, or whose unit is not certain") {
    Seq(
      "retention.time"       -> Seq("30s", "60000", "-2", "7", "", "soon", "36501d"),
      "retention.size"       -> Seq("100k", "5", "-2", ""),
      "messageTTL"           -> Seq("500ms", "3600", "infinite", "-1", "36500d"),
      "compactionThreshold"  -> Seq("infinite", "-1", "100x"),
      "deduplicationEnabled" -> Seq("yes", "1", "")
    ).foreach { case (name, texts) => texts.foreach(t => assertEquals(property(name).parse(t), None, s"$name = $t")) }
  }

  test("policies as the admin service has them") {
    val retention = Map(property("retention.time") -> 10080L, property("retention.size") -> -1L)
    val json      = PolicyProperty.json(retention)
    assertEquals(json, """{"retentionTimeInMinutes":10080,"retentionSizeInMB":-1}""")
    assertEquals(PolicyProperty.read("retention", new ObjectMapper().readTree(json)), retention)
    assertEquals(PolicyProperty.json(Map(property("messageTTL") -> 60L)), "60")
    assertEquals(PolicyProperty.json(Map(property("deduplicationEnabled") -> 1L)), "true")
    Seq("null", "", "{}").foreach(none =>
      PolicyProperty.policies.foreach(p =>
        assertEquals(PolicyProperty.read(p, new ObjectMapper().readTree(none)), Map.empty[PolicyProperty, Long], none)
      )
    )
  }

  private def retention(time: Long, size: Long) =
    Map(property("retention.time") -> time, property("retention.size") -> size)

  private def changed(present: Map[PolicyProperty, Long], changes: (String, Option[Long])*) =
    changes.foldLeft(PolicyChanges()) { case (all, (name, value)) => all + (property(name), value) }
      .changed("retention", present)

  test("one limit of a policy keeps the other one, and limits nothing else") {
    assertEquals(changed(Map.empty, "retention.time" -> Some(60L)), retention(60, -1))
    assertEquals(changed(Map.empty, "retention.size" -> Some(0L)), retention(0, 0))
    assertEquals(changed(retention(60, -1), "retention.size" -> Some(5L)), retention(60, 5))
    assertEquals(changed(retention(60, 5), "retention.time" -> Some(90L), "retention.size" -> Some(7L)),
      retention(90, 7))
  }

  test("a policy whose last limit is unset goes as a whole") {
    assertEquals(changed(retention(60, 5), "retention.size" -> None), retention(60, -1))
    assertEquals(changed(retention(60, -1), "retention.time" -> None), Map.empty[PolicyProperty, Long])
    assertEquals(changed(retention(60, 5), "retention.time" -> None, "retention.size" -> None),
      Map.empty[PolicyProperty, Long])
    assertEquals(changed(Map.empty, "retention.time" -> None), Map.empty[PolicyProperty, Long])
  }
}
