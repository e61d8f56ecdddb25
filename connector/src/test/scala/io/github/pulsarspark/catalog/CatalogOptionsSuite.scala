package io.github.pulsarspark.catalog

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class CatalogOptionsSuite extends UnitSuite {

  private val url = Map("service.url" -> "pulsar://localhost:6650")

  private def options(more: (String, String)*) =
    CatalogOptions("cat", url ++ more,
      _ =>
        Seq("authPluginClassName", "authParams", "sslFactoryPluginParams",
          "sslFactoryPlugin", "numIoThreads"))

  private def condition(more: (String, String)*): String =
    intercept[PulsarInputException with PulsarError](options(more: _*)).condition

  test("options of reads, writes and catalogs, in any case of letters") {
    val found =
      options("readLevel" -> "broker", "sendTimeoutMs" -> "5s", "NAMESPACE" -> "sales/eu", "allowdrop" -> "TRUE",
        "namespaces"      -> "a/b, c/d")
    assertEquals(found.namespace, ("sales", "eu"))
    assertEquals(found.namespaces, Seq(("a", "b"), ("c", "d")))
    assert(found.allowDrop)
    assertEquals((options().namespace, options().namespaces, options().allowDrop), (("public", "default"), Nil, false))
  }

  test("options that a catalog cannot have") {
    assertEquals(condition("alowDrop" -> "true"), "PULSAR_OPTION_UNKNOWN")
    assertEquals(condition("Topic" -> "t"), "PULSAR_OPTION_WRONG_MODE")
    assertEquals(condition("topicsPattern" -> "t"), "PULSAR_OPTION_WRONG_MODE")
    Seq("default", "a/b/c", "/b", "a/").foreach(n => assertEquals(condition("namespace" -> n), "PULSAR_OPTION_INVALID"))
    assertEquals(condition("namespaces" -> "a/b,c"), "PULSAR_OPTION_INVALID")
  }

  test("a text of the options has no secret") {
    assert(!options("auth.token" -> "hunter2").toString.contains("hunter2"))
  }
}
