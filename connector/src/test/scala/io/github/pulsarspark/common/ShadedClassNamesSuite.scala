package io.github.pulsarspark.common

import io.github.pulsarspark.UnitSuite

class ShadedClassNamesSuite extends UnitSuite {

  test("class names of the clients' own plug-ins stay as they are where nothing is relocated") {
    Seq(
      "org.apache.pulsar.client.impl.auth.AuthenticationToken",
      "org.apache.bookkeeper.sasl.SASLClientProviderFactory",
      "com.example.Own"
    ).foreach(name => assertEquals(ShadedClassNames(name), name))
  }
}
