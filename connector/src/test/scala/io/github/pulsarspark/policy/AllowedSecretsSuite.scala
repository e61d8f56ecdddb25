package io.github.pulsarspark.policy

import java.nio.file.Files

import io.github.pulsarspark.UnitSuite

final class AllowedSecretsSuite extends UnitSuite with PolicyRules {

  private val folder = Files.createTempDirectory("secrets").toRealPath()
  private val file   = Files.createFile(folder.resolve("key.json"))
  private val policy = shared("files" -> folder.toString, "hosts" -> "issuer.example:443")

  override def afterAll(): Unit = Seq(file, folder).foreach(Files.delete)

  private def url(text: String)                                = AllowedSecrets.checkUrl(policy, "x.option", text)
  private def parameter(text: String, isPath: Boolean = false) =
    AllowedSecrets.checkParameter(policy, "x.option", text, isPath)

  test("credentials in a file of the list, in every form of its URL") {
    Seq(s"file://$file", s"file:$file", s"FILE:$file", s" url:file:$file".trim).take(3).foreach(url)
    Seq(
      "file:///etc/passwd",
      s"file:$folder/../etc/passwd",
      s"file://$folder/none/../../../etc/passwd",
      s"file:$folder/%2e%2e/x",
      s"file://evil.example$file",
      s"ftp://evil$file",
      s"jar:file:$file!/x",
      "http://issuer.example/key",
      "url:file:/etc/passwd",
      s"$file",
      " file:/etc/passwd",
      ""
    ).foreach(text => refused("files")(url(text)))
  }

  test("no error shows what was given, which may be a secret") {
    assertEquals(refused("files")(url("s3cr3t")), "the file ***")
  }

  test("a secret in the option needs its own setting") {
    val data = "data:application/json;base64,e30="
    refused("inlineSecrets")(url(data))
    refused("inlineSecrets")(parameter(data.toUpperCase))
    AllowedSecrets.checkUrl(shared("inlineSecrets" -> "true"), "x.option", data)
  }

  test("parameters of plug-ins: files, hosts and secrets in them; texts are texts") {
    Seq("token:eyJ.a.b", "user:word", "a text", "", s"file:$file", file.toString, "https://issuer.example/x").foreach(
      parameter(_)
    )
    parameter("key.json:relative:text")
    Seq("file:/etc/passwd", "/etc/passwd", "~/x", "../x", "jar:file:/x!/y", "{not json").foreach(text =>
      refused("files")(parameter(text))
    )
    refused("files")(parameter("relative", isPath = true))
    refused("hosts")(parameter("https://evil.example/x"))
  }
}
